#include "lockstep/models/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace lockstep::models {
namespace {

// The generator's published test vectors (key and counter all zero, all one).
TEST(Philox, GivesThePublishedWords) {
  std::array<std::uint32_t, 64> words{};
  philox_words({0, 0}, words);
  EXPECT_EQ(words[0], 0x6627E8D5U);  // the first words of four counters lie side by side
  EXPECT_EQ(words[16], 0xE169C58DU);
  EXPECT_EQ(words[32], 0xBC57AC4CU);
  EXPECT_EQ(words[48], 0x9B00DBD8U);
}

TEST(Philox, AShortFillIsTheFrontOfALongOne) {
  std::vector<float> longer(1000), shorter(77);
  philox_normal({1, 2}, 1.0F, longer);
  philox_normal({1, 2}, 1.0F, shorter);
  for (std::size_t i = 0; i < shorter.size(); ++i) EXPECT_EQ(longer[i], shorter[i]) << i;
}

TEST(Philox, NormalValuesHaveTheMomentsOfANormalDistribution) {
  std::vector<float> values(1 << 20);
  philox_normal({3, 4}, 2.0F, values);
  double mean = 0, square = 0, fourth = 0;
  for (const float value : values) {
    const double v = value / 2.0;
    mean += v, square += v * v, fourth += v * v * v * v;
    ASSERT_TRUE(std::isfinite(value));
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(mean / count, 0.0, 0.005);
  EXPECT_NEAR(square / count, 1.0, 0.01);
  EXPECT_NEAR(fourth / count, 3.0, 0.05);
}

TEST(Philox, UniformValuesStayInsideAndFillTheirRange) {
  std::vector<float> values(100'000);
  philox_uniform({3, 4}, -0.5F, 1.5F, values);
  double mean = 0;
  for (const float value : values) {
    ASSERT_GE(value, -0.5F);
    ASSERT_LT(value, 1.5F);
    mean += value;
  }
  EXPECT_NEAR(mean / static_cast<double>(values.size()), 0.5, 0.01);
}

TEST(Philox, AMaskDropsItsShareAndScalesTheRest) {
  std::vector<float> values(100'000);
  philox_mask({3, 4}, 0.2, values);
  std::size_t dropped = 0;
  for (const float value : values) {
    if (value == 0.0F)
      ++dropped;
    else
      ASSERT_FLOAT_EQ(value, 1.25F);
  }
  EXPECT_NEAR(static_cast<double>(dropped) / static_cast<double>(values.size()), 0.2, 0.01);
}

TEST(Philox, MixDependsOnTheOrder) {
  EXPECT_NE(philox_mix(1, 2), philox_mix(2, 1));
  EXPECT_NE(philox_hash("fc1"), philox_hash("fc2"));
}

}  // namespace
}  // namespace lockstep::models
