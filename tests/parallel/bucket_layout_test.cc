#include "lockstep/parallel/bucket_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "lockstep/base/error.h"

namespace lockstep::parallel {
namespace {

using Buckets = std::vector<std::vector<std::size_t>>;

constexpr BucketLimits kLimits = {10, 25};

TEST(BucketLayout, TheTensorThatReachesTheLimitClosesItsBucket) {
  const std::vector<std::size_t> order = {3, 2, 1, 0};
  const std::vector<std::uint64_t> bytes = {5, 20, 5, 8};
  // 8 + 5 reaches the first bucket's 10; 20 + 5 reaches 25.
  EXPECT_EQ(lay_out(order, bytes, kLimits).buckets, (Buckets{{3, 2}, {1, 0}}));
}

TEST(BucketLayout, ATensorAboveTheLimitHasABucketOfItsOwn) {
  const std::vector<std::size_t> order = {0, 1, 2};
  const std::vector<std::uint64_t> bytes = {100, 100, 1};
  EXPECT_EQ(lay_out(order, bytes, kLimits).buckets, (Buckets{{0}, {1}, {2}}));
}

TEST(BucketLayout, KeepsTheOrderAndEveryParameterOnce) {
  std::vector<std::size_t> order(100);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::vector<std::uint64_t> bytes(100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = 16 * (1 + i * 7 % 13);
  EXPECT_EQ(lay_out(order, bytes, kLimits).order(), order);
}

// In a bucket only: what is in which one, and their order, stay.
TEST(BucketLayout, TensorsThatWouldMoveTheOthersFromTheirAlignmentComeLastInTheirBucket) {
  const std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
  const std::vector<std::uint64_t> bytes = {24, 64, 8, 32, 24, 48};
  EXPECT_EQ(lay_out(order, bytes, {100, 64}).buckets, (Buckets{{1, 3, 0, 2}, {5, 4}}));
}

TEST(BucketLayout, NoOrderHasMoreBucketsThanTheMost) {
  std::vector<std::uint64_t> bytes(30);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = 1 + i * 7 % 13;
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand source(1);
  for (int turn = 0; turn < 200; ++turn) {
    std::shuffle(order.begin(), order.end(), source);
    const BucketLimits limits{1 + static_cast<std::uint64_t>(turn) % 23, 1 + source() % 40};
    EXPECT_LE(lay_out(order, bytes, limits).buckets.size(), most_buckets(bytes, limits));
  }
  EXPECT_EQ(most_buckets(bytes, {1000, 1}), 1u);
}

TEST(BucketLayout, OfNothingIsEmpty) {
  EXPECT_TRUE(lay_out({}, {}, kLimits).buckets.empty());
}

TEST(BucketLayout, SurvivesJson) {
  const BucketLayout layout = {{{2, 0}, {1}}};
  EXPECT_EQ(bucket_layout_from_json(to_json(layout), 3), layout);
}

TEST(BucketLayout, OfAnotherModelIsRefused) {
  const BucketLayout layout = {{{2, 0}, {1}}};
  EXPECT_THROW(bucket_layout_from_json(to_json(layout), 4), base::DataError);
  EXPECT_THROW(bucket_layout_from_json(to_json(BucketLayout{{{0, 0}, {1}}}), 3), base::DataError);
  EXPECT_THROW(bucket_layout_from_json(nlohmann::json("layout"), 3), base::DataError);
}

}  // namespace
}  // namespace lockstep::parallel
