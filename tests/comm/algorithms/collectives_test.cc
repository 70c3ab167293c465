// Every collective over in-process messages: exact results for any number of ranks, type, size and placement.
#include <gtest/gtest.h>

#include <set>

#include "lockstep/comm/algorithms/collectives.h"
#include "tests/comm/algorithms/thread_messenger.h"
#include "tests/support/exact_cases.h"

namespace lockstep::testing {
namespace {

using comm::AlgorithmOptions;
using comm::CollectiveContext;
using comm::Operation;

class CollectivesTest : public ::testing::TestWithParam<int> {
 protected:
  void run_all(const AlgorithmOptions& options) {
    const int world = GetParam();
    run_threads(
        world,
        [&](CollectiveContext& context) {
          for (const ExactCase& test : exact_cases(world, false))
            run_exact_case(test, context.rank(), world,
                           [&](const Operation& operation) { comm::run_collective(context, operation); });
        },
        options);
  }
};

TEST_P(CollectivesTest, GiveExactResultsWithTheUsualSizes) {
  EXPECT_NO_THROW(run_all({}));
}

TEST_P(CollectivesTest, GiveExactResultsWhenEverythingCountsAsLargeAndSegmentsAreShort) {
  EXPECT_NO_THROW(run_all({.segment_bytes = 4096, .lookahead = 3, .small_bytes = 0}));
}

TEST_P(CollectivesTest, GiveExactResultsWhenEverythingCountsAsSmall) {
  EXPECT_NO_THROW(run_all({.small_bytes = std::size_t{1} << 30}));
}

TEST_P(CollectivesTest, GiveEveryRankTheSameBitsOfAnInexactSum) {
  const int world = GetParam();
  for (const std::size_t small_bytes : {std::size_t{0}, std::size_t{1} << 30}) {
    std::vector<std::vector<float>> results(static_cast<std::size_t>(world));
    run_threads(world,
                [&](CollectiveContext& context) {
                  std::vector<float> data(10007);
                  for (std::size_t i = 0; i < data.size(); ++i)
                    data[i] = 1.0F / static_cast<float>(i + 3 + static_cast<std::size_t>(context.rank()) * 7);
                  const comm::Buffer buffer =
                      comm::host_buffer(data.data(), data.size(), comm::ElementType::f32);
                  comm::run_collective(
                      context, comm::all_reduce(buffer, comm::ReduceOp::mean, comm::Purpose::gradient));
                  results[static_cast<std::size_t>(context.rank())] = data;
                },
                {.segment_bytes = 1024, .lookahead = 4, .small_bytes = small_bytes});
    EXPECT_EQ(std::set(results.begin(), results.end()).size(), 1U);
  }
}

TEST(ReduceScatterTest, MayWriteItsOutputAnywhereInsideItsInput) {
  run_threads(3, [](CollectiveContext& context) {
    std::vector<int> data(30);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
    const comm::Buffer in = comm::host_buffer(data.data(), data.size(), comm::ElementType::i32);
    comm::run_collective(
        context, comm::reduce_scatter(in, in.part(20, 40), comm::ReduceOp::sum, comm::Purpose::gradient));
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(data[static_cast<std::size_t>(5 + i)], 3 * (context.rank() * 10 + i));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollectivesTest, ::testing::Values(1, 2, 3, 4, 5, 7, 8),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

}  // namespace
}  // namespace lockstep::testing
