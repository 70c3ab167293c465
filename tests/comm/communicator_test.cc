// What every communicator promises: order, several operations in flight, split and duplicate, the ledger,
// failures.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/comm/local/local_backend.h"
#include "lockstep/comm/wrappers/injecting.h"
#include "lockstep/comm/wrappers/recording.h"
#include "tests/support/replicas.h"

namespace lockstep::testing {
namespace {

using comm::Communicator;
using comm::ElementType;
using comm::Purpose;
using comm::ReduceOp;
using measure::Collective;

comm::Buffer view(std::vector<float>& values) {
  return comm::host_buffer(values.data(), values.size(), ElementType::f32);
}

TEST(Communicator, KeepsSeveralOperationsInFlightApart) {
  expect_replicas_succeed(3, [](Communicator& communicator) {
    std::vector<std::vector<float>> tensors;
    for (std::size_t i = 0; i < 8; ++i) tensors.emplace_back(1000 * (i + 1), static_cast<float>(i + 1));
    std::vector<comm::Work> works;
    for (auto& tensor : tensors)
      works.push_back(
          communicator.start(comm::all_reduce(view(tensor), ReduceOp::sum, Purpose::gradient), {}));
    for (const comm::Work& work : works) work.wait();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      for (const float value : tensors[i]) ASSERT_EQ(value, 3.0f * static_cast<float>(i + 1));
  });
}

TEST(Communicator, RunsABlockingOperationAfterTheStartedOnes) {
  expect_replicas_succeed(2, [](Communicator& communicator) {
    std::vector<float> tensor(5000, 1);
    communicator.start(comm::all_reduce(view(tensor), ReduceOp::sum, Purpose::gradient), {});
    communicator.run(comm::all_reduce(view(tensor), ReduceOp::sum, Purpose::gradient));
    ASSERT_EQ(tensor.front(), 4);
    ASSERT_EQ(tensor.back(), 4);
  });
}

TEST(Communicator, SplitsByColourAndOrdersByKey) {
  expect_replicas_succeed(5, [](Communicator& communicator) {
    const int rank = communicator.group().rank;
    const auto part = communicator.split(rank % 2, -rank);
    ASSERT_EQ(part->group().world, rank % 2 == 0 ? 3 : 2);
    ASSERT_EQ(part->group().rank, rank % 2 == 0 ? (4 - rank) / 2 : (3 - rank) / 2);
    std::vector<float> sum(1, static_cast<float>(rank));
    part->run(comm::all_reduce(view(sum), ReduceOp::sum, Purpose::metric));
    ASSERT_EQ(sum[0], rank % 2 == 0 ? 0 + 2 + 4 : 1 + 3);
  });
}

TEST(Communicator, LeavesARankWithoutColourOut) {
  expect_replicas_succeed(3, [](Communicator& communicator) {
    const int rank = communicator.group().rank;
    const auto part = communicator.split(rank == 1 ? -1 : 0, 0);
    ASSERT_EQ(part == nullptr, rank == 1);
    if (part != nullptr) {
      ASSERT_EQ(part->group().world, 2);
    }
  });
}

TEST(Communicator, DuplicatesIntoAnIndependentChannel) {
  expect_replicas_succeed(2, [](Communicator& communicator) {
    const auto other = communicator.duplicate();
    // Opposite orders on the two channels: they would deadlock if they were one.
    std::vector<float> a(1, 1), b(1, 10);
    const bool first = communicator.group().rank == 0;
    Communicator& begin = first ? communicator : *other;
    Communicator& end = first ? *other : communicator;
    const comm::Work one =
        begin.start(comm::all_reduce(view(first ? a : b), ReduceOp::sum, Purpose::metric), {});
    const comm::Work two =
        end.start(comm::all_reduce(view(first ? b : a), ReduceOp::sum, Purpose::metric), {});
    one.wait();
    two.wait();
    ASSERT_EQ(a[0], 2);
    ASSERT_EQ(b[0], 20);
  });
}

TEST(Communicator, RefusesBuffersThatDoNotFitTogether) {
  expect_replicas_succeed(1, [](Communicator& communicator) {
    std::vector<float> large(4), small(3);
    EXPECT_THROW(
        communicator.run(comm::all_reduce(view(large), view(small), ReduceOp::sum, Purpose::gradient)),
        base::ConfigError);
    EXPECT_THROW(communicator.run(comm::broadcast(view(large), 7, Purpose::parameter)), base::Error);
  });
}

TEST(Communicator, EndsAnOperationWhenThePeerAborts) {
  expect_replicas_succeed(2, [](Communicator& communicator) {
    if (communicator.group().rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      communicator.abort("test");
      return;
    }
    try {
      communicator.run(comm::barrier());
      FAIL() << "must not complete";
    } catch (const base::CommError& error) {
      EXPECT_EQ(error.kind(), base::CommError::Kind::collateral);
    }
    EXPECT_THROW(communicator.run(comm::barrier()), base::CommError) << "a failed communicator stays failed";
  });
}

TEST(Communicator, NamesThoseWhoDisagree) {
  comm::OpenOptions options;
  options.timeout = std::chrono::seconds(5);
  auto group = comm::open_local_group(2, options);
  std::vector<std::string> messages(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      std::vector<float> values(static_cast<std::size_t>(10 + r));
      try {
        group[static_cast<std::size_t>(r)]->run(
            comm::all_reduce(view(values), ReduceOp::sum, Purpose::gradient));
      } catch (const base::CommError& error) {
        if (error.kind() == base::CommError::Kind::disagreement)
          messages[static_cast<std::size_t>(r)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& message : messages) {
    EXPECT_NE(message.find("all_reduce (sum) of 10 f32"), std::string::npos) << message;
    EXPECT_NE(message.find("all_reduce (sum) of 11 f32"), std::string::npos) << message;
  }
}

TEST(Ledger, CountsWhatEveryRankMovedToTheByte) {
  std::array<measure::Ledger, 4> ledgers;
  comm::OpenOptions options;
  auto group = comm::open_local_group(4, options);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      comm::RecordingCommunicator recorded(std::move(group[r]), ledgers[r]);
      std::vector<float> values(64 * 1024, 1);  // 256 KiB: in place
      recorded.run(comm::all_reduce(view(values), ReduceOp::sum, Purpose::gradient));
      recorded.start(comm::broadcast(view(values), 0, Purpose::parameter), {}).wait();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t r = 0; r < 4; ++r) {
    const auto rows = ledgers[r].rows();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].purpose, Purpose::gradient);
    EXPECT_EQ(rows[0].link, "local");
    EXPECT_EQ(rows[0].payload_bytes, 256u * 1024);
    EXPECT_EQ(rows[0].wire_bytes, 2u * 3 * 256 * 1024 / 4);  // 2(n-1)/n S
    EXPECT_EQ(rows[1].collective, Collective::broadcast);
    EXPECT_EQ(rows[1].wire_bytes, r == 0 ? 0u : 256u * 1024);
    EXPECT_FALSE(rows[0].estimated);
    EXPECT_GT(rows[0].busy.count(), 0);
  }
}

TEST(DelayingCommunicator, HoldsMatchingOperationsBackAndCountsTheDelayAsBusy) {
  expect_replicas_succeed(1, [](Communicator&) {
    measure::Ledger ledger;
    auto group = comm::open_local_group(1, {});
    const auto delay = std::chrono::milliseconds(30);
    auto slow = std::make_unique<comm::DelayingCommunicator>(
        std::move(group[0]), delay, [](const comm::Operation& o) { return o.purpose == Purpose::gradient; });
    comm::RecordingCommunicator recorded(std::move(slow), ledger);
    std::vector<float> values(1);
    recorded.run(comm::all_reduce(view(values), ReduceOp::sum, Purpose::gradient));
    recorded.start(comm::all_reduce(view(values), ReduceOp::sum, Purpose::gradient), {}).wait();
    recorded.run(comm::all_reduce(view(values), ReduceOp::sum, Purpose::metric));
    const auto rows = ledger.rows();
    EXPECT_GE(rows[0].busy, 2 * delay);
    EXPECT_LT(rows[1].busy, delay);
  });
}

TEST(FailingCommunicator, LetsTheFirstOperationsPassAndThenFails) {
  auto group = comm::open_local_group(1, {});
  comm::FailingCommunicator failing(std::move(group[0]), 2, [](const comm::Operation&) { return true; });
  EXPECT_NO_THROW(failing.run(comm::barrier()));
  EXPECT_NO_THROW(failing.run(comm::barrier()));
  EXPECT_THROW(failing.run(comm::barrier()), base::CommError);
}

}  // namespace
}  // namespace lockstep::testing
