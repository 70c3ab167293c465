// What the gloo backend does when a rank dies, never comes, disagrees or is told to give up.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "lockstep/base/error.h"
#include "tests/comm/gloo/open_gloo.h"
#include "tests/support/strangers.h"

namespace lockstep::testing {
namespace {

using base::CommError;
using comm::ElementType;
using comm::Operation;
using comm::ReduceOp;

Operation sum_of(std::vector<float>& data) {
  return comm::all_reduce(comm::host_buffer(data.data(), data.size(), ElementType::f32), ReduceOp::sum,
                          comm::Purpose::gradient);
}

// Runs `body`, which must end in a CommError within `limit`, and returns it.
CommError error_of(const std::function<void()>& body, base::Nanoseconds limit) {
  const base::TimePoint start = base::now();
  try {
    body();
  } catch (const CommError& error) {
    check(base::now() - start < limit, std::string("this came too late: ") + error.what());
    return error;
  }
  throw std::runtime_error("the operation should have failed");
}

bool mentions(const CommError& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

class GlooDeathTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(GlooDeathTest, ADeadPeerIsNamedWithinTwoSeconds) {
  const std::vector<RankResult> results = run_ranks(2, [&](Rank& rank) {
    GlooRank gloo(rank);
    std::vector<float> data(GetParam());
    gloo.communicator->run(sum_of(data));
    if (rank.group.rank == 1) {
      std::thread killer([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        ::kill(::getpid(), SIGKILL);
      });
      for (;;) gloo.communicator->run(sum_of(data));
    }
    const CommError error = error_of(
        [&] {
          for (;;) gloo.communicator->run(sum_of(data));
        },
        std::chrono::milliseconds(2200));
    check(error.kind() == CommError::Kind::peer_lost, std::string("the kind is wrong: ") + error.what());
    check(mentions(error, "rank 1") && mentions(error, "all_reduce"), error.what());
  });
  EXPECT_EQ(results[0].exit_code, 0) << results[0].message;
  EXPECT_EQ(results[0].signal, 0);
  EXPECT_EQ(results[1].signal, SIGKILL);
}

// One element, a message of one segment, and one of many: the peer dies between and within messages.
INSTANTIATE_TEST_SUITE_P(Elements, GlooDeathTest, ::testing::Values(1, 30000, 16 << 20),
                         [](const auto& elements) { return std::to_string(elements.param); });

TEST(GlooTimeoutTest, APeerThatNeverArrivesEndsInATimeoutThatNamesIt) {
  expect_ranks_succeed(2, [](Rank& rank) {
    comm::OpenOptions options;
    options.timeout = std::chrono::seconds(1);
    GlooRank gloo(rank, options);
    std::vector<float> data(1000);
    if (rank.group.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      return;
    }
    const CommError error =
        error_of([&] { gloo.communicator->run(sum_of(data)); }, std::chrono::milliseconds(2000));
    check(error.kind() == CommError::Kind::timed_out, std::string("the kind is wrong: ") + error.what());
    check(mentions(error, "rank 1"), error.what());
  });
}

TEST(GlooDisagreementTest, RanksThatDisagreeOnTheCountBothEndAtTheTimeout) {
  expect_ranks_succeed(2, [](Rank& rank) {
    comm::OpenOptions options;
    options.timeout = std::chrono::seconds(1);
    GlooRank gloo(rank, options);
    std::vector<float> data(rank.group.rank == 0 ? 1000 : 900);
    error_of([&] { gloo.communicator->run(sum_of(data)); }, std::chrono::seconds(3));
  });
}

TEST(GlooAbortTest, EndsABlockedOperationSoonAsCollateral) {
  expect_ranks_succeed(2, [](Rank& rank) {
    GlooRank gloo(rank);
    std::vector<float> data(1000);
    if (rank.group.rank == 1) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      return;
    }
    std::thread aborter([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      gloo.communicator->abort("a test asked for it");
    });
    const CommError error =
        error_of([&] { gloo.communicator->run(sum_of(data)); }, std::chrono::milliseconds(1500));
    aborter.join();
    check(error.kind() == CommError::Kind::collateral, std::string("the kind is wrong: ") + error.what());
  });
}

TEST(GlooConnectTest, ARankThatNeverComesEndsTheOpeningAtTheTimeout) {
  expect_ranks_succeed(2, [](Rank& rank) {
    if (rank.group.rank == 1) return;
    comm::OpenOptions options;
    options.timeout = std::chrono::seconds(1);
    error_of([&] { GlooRank gloo(rank, options); }, std::chrono::seconds(3));
  });
}

TEST(GlooConnectTest, StrangersWhoConnectToEveryPortDoNotDisturbTheOpening) {
  constexpr int kRuns = 8;
  Scanner scanner(::getpid());
  for (int run = 0; run < kRuns; ++run)
    expect_ranks_succeed(3, [](Rank& rank) {
      comm::OpenOptions options;
      options.timeout = std::chrono::seconds(20);
      // The later ranks let the others stand open for a while.
      std::this_thread::sleep_for(std::chrono::milliseconds(60 * rank.group.rank));
      GlooRank gloo(rank, options);
      const auto other = gloo.communicator->duplicate();
      std::vector<float> data(1000, 1.0F);
      other->run(sum_of(data));
      check(data.front() == 3.0F, "the sum is wrong");
    });
  EXPECT_GE(scanner.stop(), kRuns);
}

TEST(GlooConnectTest, RanksWithDifferentKeysDoNotConnect) {
  expect_ranks_succeed(2, [](Rank& rank) {
    comm::OpenOptions options;
    options.timeout = std::chrono::seconds(1);
    options.key = rank.group.rank == 0 ? "a key" : "another key";
    const CommError error = error_of([&] { GlooRank gloo(rank, options); }, std::chrono::seconds(3));
    check(mentions(error, "cannot connect to rank"), error.what());
  });
}

}  // namespace
}  // namespace lockstep::testing
