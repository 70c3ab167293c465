#include "lockstep/predict/ring_cost.h"

#include <gtest/gtest.h>

namespace lockstep::predict {
namespace {

using measure::Collective;

constexpr LinkCost kLink{1e-5, 1e9, 1e-10};

TEST(RingCost, AllReduceIsTwoRoundsOfMessagesAndBytesAndOneOfReduction) {
  // n = 4, S = 4 MB: 6 messages, 1.5 S over the link, 0.75 S reduced.
  EXPECT_NEAR(ring_seconds(Collective::all_reduce, 4e6, 4, kLink), 6e-5 + 6e-3 + 3e-4, 1e-12);
}

TEST(RingCost, ReduceScatterAndAllGatherTogetherAreAnAllReduce) {
  const double both = ring_seconds(Collective::reduce_scatter, 1e6, 8, kLink) +
                      ring_seconds(Collective::all_gather, 1e6, 8, kLink);
  EXPECT_NEAR(both, ring_seconds(Collective::all_reduce, 1e6, 8, kLink), 1e-12);
}

TEST(RingCost, OneRankCostsNothing) {
  for (const Collective collective : {Collective::all_reduce, Collective::broadcast, Collective::barrier})
    EXPECT_EQ(ring_seconds(collective, 1e6, 1, kLink), 0);
  EXPECT_EQ(recursive_doubling_seconds(1e6, 1, kLink), 0);
  EXPECT_EQ(least_all_reduce_seconds(1e6, 1, 1e9), 0);
}

TEST(RingCost, ABarrierCostsMessagesButNoBytes) {
  EXPECT_NEAR(ring_seconds(Collective::barrier, 1e9, 3, kLink), 2e-5, 1e-15);
}

TEST(RingCost, SmallTensorsAreFasterByRecursiveDoublingAndLargeOnesByTheRing) {
  EXPECT_LT(recursive_doubling_seconds(100, 16, kLink), ring_seconds(Collective::all_reduce, 100, 16, kLink));
  EXPECT_GT(recursive_doubling_seconds(1e8, 16, kLink), ring_seconds(Collective::all_reduce, 1e8, 16, kLink));
  EXPECT_LT(halving_doubling_seconds(1e8, 16, kLink), ring_seconds(Collective::all_reduce, 1e8, 16, kLink));
}

TEST(RingCost, NothingIsFasterThanTheBound) {
  for (const int ranks : {2, 3, 8, 64})
    EXPECT_GE(ring_seconds(Collective::all_reduce, 1e6, ranks, kLink),
              least_all_reduce_seconds(1e6, ranks, 1e9));
}

}  // namespace
}  // namespace lockstep::predict
