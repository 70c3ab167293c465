#include "lockstep/base/keyed_random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace lockstep::base {
namespace {

// SplitMix64 from state 0 begins so in its author's reference code: another engine must be able to draw the
// same.
TEST(KeyedRandom, mixes_as_split_mix64_does) {
  EXPECT_EQ(mix_bits(0), 0xe220a8397b1dcdafull);
  EXPECT_EQ(mix_bits(0x9e3779b97f4a7c15ull), 0x6e789e6aa1b965f4ull);
}

TEST(KeyedRandom, draws_the_same_for_the_same_key_and_others_for_another) {
  KeyedRandom one(RandomStream::noise, {1, 2, 3});
  KeyedRandom same(RandomStream::noise, {1, 2, 3});
  KeyedRandom swapped(RandomStream::noise, {1, 3, 2});
  KeyedRandom other_stream(RandomStream::shuffle, {1, 2, 3});
  const auto first = one.next();
  EXPECT_EQ(first, same.next());
  EXPECT_NE(first, swapped.next());
  EXPECT_NE(first, other_stream.next());
}

TEST(KeyedRandom, is_uniform_enough_in_its_range) {
  KeyedRandom random(RandomStream::augmentation, {7});
  std::array<int, 9> counts{};
  for (int i = 0; i < 9000; ++i) ++counts[random.below(9)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(KeyedRandom, has_normal_numbers_of_mean_zero_and_variance_one) {
  KeyedRandom random(RandomStream::noise, {7});
  double sum = 0;
  double squares = 0;
  constexpr int kPairs = 20000;
  for (int i = 0; i < kPairs; ++i) {
    float first, second;
    random.normal_pair(first, second);
    sum += first + second;
    squares += first * first + second * second;
  }
  EXPECT_NEAR(sum / (2 * kPairs), 0.0, 0.03);
  EXPECT_NEAR(squares / (2 * kPairs), 1.0, 0.03);
}

}  // namespace
}  // namespace lockstep::base
