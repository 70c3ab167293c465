// The gloo backend between real processes on loopback.
#include <gtest/gtest.h>

#include <thread>

#include "lockstep/base/error.h"
#include "tests/comm/gloo/open_gloo.h"
#include "tests/support/exact_cases.h"

namespace lockstep::testing {
namespace {

using comm::Buffer;
using comm::ElementType;
using comm::Operation;
using comm::ReduceOp;

constexpr auto kPurpose = comm::Purpose::gradient;

constexpr auto kLimit = std::chrono::minutes(10);

class GlooTest : public ::testing::TestWithParam<int> {};

TEST_P(GlooTest, GivesExactResultsForEveryCollectiveTypeAndSize) {
  const int world = GetParam();
  expect_ranks_succeed(
      world,
      [&](Rank& rank) {
        GlooRank gloo(rank);
        for (const ExactCase& test : exact_cases(world, full_matrix()))
          run_exact_case(test, *gloo.communicator);
      },
      kLimit);
}

INSTANTIATE_TEST_SUITE_P(Ranks, GlooTest, ::testing::Values(1, 2, 3, 5, 8),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

class GlooHugeTest : public ::testing::TestWithParam<int> {};

TEST_P(GlooHugeTest, GivesExactResultsForSixtyFourMebibytes) {
  expect_ranks_succeed(
      GetParam(),
      [](Rank& rank) {
        GlooRank gloo(rank);
        for (const ExactCase& test : huge_cases(full_matrix())) run_exact_case(test, *gloo.communicator);
      },
      kLimit);
}

INSTANTIATE_TEST_SUITE_P(Ranks, GlooHugeTest, ::testing::Values(2, 4),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

TEST(GlooQueueTest, KeepsSeveralOperationsInFlightInOrder) {
  expect_ranks_succeed(3, [](Rank& rank) {
    GlooRank gloo(rank);
    std::vector<std::vector<float>> tensors;
    for (std::size_t i = 0; i < 8; ++i) tensors.emplace_back(20011 * (i + 1), static_cast<float>(i));
    std::vector<comm::Work> works;
    for (auto& tensor : tensors)
      works.push_back(gloo.communicator->start(
          comm::all_reduce(comm::host_buffer(tensor.data(), tensor.size(), ElementType::f32), ReduceOp::sum,
                           kPurpose),
          {}));
    for (const comm::Work& work : works) work.wait();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      for (const float value : tensors[i]) check(value == 3 * static_cast<float>(i), "a sum is wrong");
  });
}

TEST(GlooSplitTest, FormsGroupsByColourOrderedByKey) {
  expect_ranks_succeed(5, [](Rank& rank) {
    GlooRank gloo(rank);
    const int colour = rank.group.rank == 4 ? -1 : rank.group.rank % 2;
    const auto part = gloo.communicator->split(colour, -rank.group.rank);
    check((part == nullptr) == (colour < 0), "a negative colour has no group");
    if (part == nullptr) return;
    check(part->group().world == 2, "two ranks share a colour");
    check(part->group().rank == (rank.group.rank < 2 ? 1 : 0), "a lower key comes first");
    int sum = rank.group.rank;
    part->run(comm::all_reduce(comm::host_buffer(&sum, 1, ElementType::i32), ReduceOp::sum, kPurpose));
    check(sum == (colour == 0 ? 0 + 2 : 1 + 3), "the sum is over the part only");
  });
}

TEST(GlooSplitTest, DuplicatesAreIndependentChannels) {
  expect_ranks_succeed(2, [](Rank& rank) {
    GlooRank gloo(rank);
    const auto other = gloo.communicator->duplicate();
    std::vector<float> large(1 << 20, 1.0F);
    int small = 1;
    const comm::Work work = gloo.communicator->start(
        comm::all_reduce(comm::host_buffer(large.data(), large.size(), ElementType::f32), ReduceOp::sum,
                         kPurpose),
        {});
    other->run(comm::all_reduce(comm::host_buffer(&small, 1, ElementType::i32), ReduceOp::sum, kPurpose));
    work.wait();
    check(small == 2 && large.back() == 2.0F, "both channels give their sums");
  });
}

TEST(GlooMovementTest, CountsTheBytesARankSends) {
  expect_ranks_succeed(2, [](Rank& rank) {
    GlooRank gloo(rank);
    std::vector<float> data(1 << 20);
    const measure::Movement movement = gloo.communicator->run(comm::all_reduce(
        comm::host_buffer(data.data(), data.size(), ElementType::f32), ReduceOp::sum, kPurpose));
    check(movement.wire_bytes == data.size() * 4, "two ranks send the tensor once each");
    check(!movement.estimated, "the bytes are counted, not estimated");
  });
}

TEST(GlooMovementTest, ShowsALatePeerAsPeerWait) {
  expect_ranks_succeed(2, [](Rank& rank) {
    GlooRank gloo(rank);
    std::vector<float> data(1 << 20);
    const Operation operation = comm::all_reduce(
        comm::host_buffer(data.data(), data.size(), ElementType::f32), ReduceOp::sum, kPurpose);
    gloo.communicator->run(operation);
    gloo.communicator->run(comm::barrier());
    if (rank.group.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const measure::Movement movement = gloo.communicator->run(operation);
    if (rank.group.rank == 0)
      check(movement.peer_wait > std::chrono::milliseconds(250) && movement.peer_wait < movement.busy,
            "the wait for the late rank is peer wait");
    else
      check(movement.peer_wait < std::chrono::milliseconds(250), "the late rank waited for nobody");
  });
}

TEST(GlooNativeTest, RunsGloosOwnAllReducesAndMarksTheirBytesAsEstimated) {
  for (const char* algorithm :
       {"native-ring", "native-bcube", "native-ring-chunked", "native-halving-doubling"})
    expect_ranks_succeed(2, [&](Rank& rank) {
      comm::OpenOptions options;
      options.algorithm = algorithm;
      GlooRank gloo(rank, options);
      std::vector<float> data(4096, static_cast<float>(rank.group.rank + 1));
      const Operation operation = comm::all_reduce(
          comm::host_buffer(data.data(), data.size(), ElementType::f32), ReduceOp::sum, kPurpose);
      const measure::Movement movement = gloo.communicator->run(operation);
      check(movement.estimated, "the bytes are estimated");
      for (const float value : data) check(value == 3.0F, "a sum is wrong");
    });
}

TEST(GlooOptionsTest, SuggestsAnAlgorithmForAMisspeltOne) {
  expect_ranks_succeed(1, [](Rank& rank) {
    comm::OpenOptions options;
    options.algorithm = "rnig";
    try {
      GlooRank gloo(rank, options);
    } catch (const base::UsageError& error) {
      check(std::string(error.what()).find("'ring'") != std::string::npos, "ring is suggested");
      return;
    }
    check(false, "an unknown algorithm is refused");
  });
}

TEST(GlooOptionsTest, NamesTheInterfacesWhenOneDoesNotExist) {
  expect_ranks_succeed(1, [](Rank& rank) {
    comm::OpenOptions options;
    options.interface = "nosuch0";
    try {
      GlooRank gloo(rank, options);
    } catch (const base::ConfigError& error) {
      check(std::string(error.what()).find("There are: ") != std::string::npos, error.what());
      return;
    }
    check(false, "an unknown interface is refused");
  });
}

}  // namespace
}  // namespace lockstep::testing
