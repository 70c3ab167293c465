#include "lockstep/parallel/zero/shard.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lockstep::parallel {
namespace {

TEST(Shard, ShardsCoverTheRowOnceAndDifferByOneElementAtMost) {
  for (const std::size_t elements : {0u, 1u, 5u, 12u, 61706u}) {
    for (const int world : {1, 2, 3, 4, 7}) {
      std::size_t at = 0;
      const std::vector<std::size_t> counts = shard_counts(elements, world);
      for (int rank = 0; rank < world; ++rank) {
        const Shard shard = shard_of(elements, world, rank);
        EXPECT_EQ(shard.begin, at);
        EXPECT_EQ(shard.count, counts[static_cast<std::size_t>(rank)]);
        EXPECT_LE(counts.front() - shard.count, 1u);
        at += shard.count;
      }
      EXPECT_EQ(at, elements);
    }
  }
}

TEST(Shard, PiecesAreThePartsOfTensorsThatLieInIt) {
  const std::vector<std::size_t> tensors = {4, 3, 0, 5};
  EXPECT_EQ(pieces_of(tensors, {0, 4}), (std::vector<Piece>{{0, 0, 4, 0}}));
  EXPECT_EQ(pieces_of(tensors, {3, 6}), (std::vector<Piece>{{0, 3, 1, 0}, {1, 0, 3, 1}, {3, 0, 2, 4}}));
  EXPECT_TRUE(pieces_of(tensors, {12, 0}).empty());
}

TEST(Shard, UpdatablesAreViewsOfTheShard) {
  const std::vector<models::NamedTensor> group = {{"a", at::zeros({2, 2})}, {"b", at::zeros({3})}};
  const at::Tensor values = at::arange(4, at::kFloat), gradients = at::ones({4});
  std::vector<Updatable> updatables;
  append_updatables(group, {3, 4}, values, gradients, updatables);
  ASSERT_EQ(updatables.size(), 2u);
  EXPECT_EQ(updatables[0].name, "a[3:4]");
  EXPECT_EQ(updatables[1].name, "b[0:3]");
  updatables[1].value.zero_();
  EXPECT_TRUE(values.equal(at::zeros({4})));  // a's last element was 0
}

}  // namespace
}  // namespace lockstep::parallel
