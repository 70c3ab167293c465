#include "lockstep/train/disturbances.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

using namespace std::chrono_literals;

TEST(Disturbances, AreReadForOneRank) {
  const std::string delays = "loader=50ms@1, compute=20ms@0,link=5ms,first-bucket=1.5s@1";
  const Disturbances first = parse_disturbances(delays, "7@1", 0);
  EXPECT_EQ(first.loader, 0ms);
  EXPECT_EQ(first.compute, 20ms);
  EXPECT_EQ(first.link, 5ms);
  EXPECT_FALSE(first.flip_after.has_value());
  const Disturbances second = parse_disturbances(delays, "7@1", 1);
  EXPECT_EQ(second.loader, 50ms);
  EXPECT_EQ(second.compute, 0ms);
  EXPECT_EQ(second.first_bucket, 1500ms);
  EXPECT_EQ(second.flip_after, 7);
}

TEST(Disturbances, OfEmptyTextsAreNone) {
  const Disturbances none = parse_disturbances("", "", 0);
  EXPECT_EQ(none.loader + none.compute + none.link + none.first_bucket, 0ms);
  EXPECT_FALSE(none.flip_after.has_value());
}

TEST(Disturbances, ThatCannotBeReadAreRefused) {
  for (const char* delays : {"loader", "lodaer=5ms", "loader=5ms@x", "loader=soon", "loader=5ms@"})
    EXPECT_THROW(parse_disturbances(delays, "", 0), base::ConfigError) << delays;
  for (const char* flip : {"x", "7@", "@1", "7@one"})
    EXPECT_THROW(parse_disturbances("", flip, 0), base::ConfigError) << flip;
}

TEST(Disturbances, WithholdOneGradientOfOneRank) {
  EXPECT_EQ(parse_disturbances("", "", 1, "conv1.weight@1").withheld, "conv1.weight");
  EXPECT_FALSE(parse_disturbances("", "", 0, "conv1.weight@1").withheld.has_value());
  EXPECT_EQ(parse_disturbances("", "", 0, "conv1.weight").withheld, "conv1.weight");
  for (const char* withheld : {"@1", "conv1.weight@x"})
    EXPECT_THROW(parse_disturbances("", "", 0, withheld), base::ConfigError) << withheld;
}

TEST(Disturbances, FlipTheSignOfTheFirstValue) {
  const at::Tensor value = at::ones({2, 2});
  const std::vector<parallel::Updatable> updatables = {{"weight", value, {}}};
  flip_a_bit(updatables);
  const at::Tensor bits = value.view(at::kInt).bitwise_xor(at::ones({2, 2}).view(at::kInt));
  EXPECT_EQ(bits.flatten()[0].item<int>(), std::numeric_limits<int>::min());
  EXPECT_EQ(bits.sum().item<std::int64_t>(), std::numeric_limits<int>::min());
}

}  // namespace
}  // namespace lockstep::train
