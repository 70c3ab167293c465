// Norms, factors and clipping of whole gradients.
// Tests of the norm of the whole gradient, and of clipping by it.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/optimizer_fixture.h"

namespace lockstep::train {
namespace {

std::vector<parallel::Updatable> list_with_gradients(at::ScalarType type) {
  std::vector<parallel::Updatable> list = make_list(type);
  set_gradients(list, make_gradients(list, 1)[0]);
  return list;
}

double expected_square_norm(const std::vector<parallel::Updatable>& list) {
  double sum = 0;
  for (const parallel::Updatable& one : list)
    sum += one.gradient.to(at::kDouble).square().sum().item<double>();
  return sum;
}

TEST(GradientNorm, IsTheSumOfSquaresInDouble) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const std::vector<parallel::Updatable> list = list_with_gradients(type);
    const double expected = expected_square_norm(list);
    EXPECT_NEAR(square_norm(list), expected, 1e-13 * expected);
  }
}

TEST(GradientNorm, IsExactWhereF32WouldNotBe) {
  const std::vector<parallel::Updatable> list = {{"w", at::zeros({1 << 25}), at::ones({1 << 25})}};
  EXPECT_EQ(square_norm(list), std::ldexp(1.0, 25));  // f32 stops counting at 2^24
}

TEST(GradientNorm, ThreadsDoNotChangeABit) {
  const std::vector<parallel::Updatable> list = list_with_gradients(at::kFloat);
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double alone = square_norm(list);
  for (const int threads : {2, 3, 5}) {
    at::set_num_threads(threads);
    EXPECT_EQ(square_norm(list), alone);
  }
  at::set_num_threads(before);
}

TEST(GradientNorm, OfNothingIsZero) {
  EXPECT_EQ(square_norm({}), 0);
}

TEST(GradientNorm, ScalingMultipliesEveryGradient) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    std::vector<parallel::Updatable> list = list_with_gradients(type);
    std::vector<at::Tensor> expected;
    const at::ScalarType real = type == at::kBFloat16 ? at::kFloat : type;
    for (const parallel::Updatable& one : list) expected.push_back(one.gradient.to(real).mul(0.3).to(type));
    scale_gradients(list, 0.3);
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_TRUE(same_bits(list[i].gradient, expected[i])) << i;
  }
}

TEST(GradientNorm, ScalesGradientsWithHoles) {
  const std::vector<parallel::Updatable> list = {{"w", at::ones({4, 2}), at::ones({4, 4}).narrow(1, 1, 2)}};
  scale_gradients(list, 2);
  EXPECT_TRUE(same_bits(list[0].gradient, at::full({4, 2}, 2.0)));
}

TEST(GradientNorm, ClippingShrinksALongGradientToTheLimit) {
  const std::vector<parallel::Updatable> list = {{"w", at::zeros({2}), at::tensor({3.0F, 4.0F})}};
  scale_gradients(list, clip_factor(square_norm(list), 1.0));
  EXPECT_NEAR(std::sqrt(square_norm(list)), 1.0, 1e-6);
}

TEST(GradientNorm, ClippingLeavesAShortGradientAlone) {
  EXPECT_EQ(clip_factor(25.0, 10.0), 1.0);
  EXPECT_EQ(clip_factor(0.0, 1.0), 1.0);
}

TEST(GradientNorm, ClippingDoesNotHideWhatIsNotANumber) {
  EXPECT_TRUE(std::isnan(clip_factor(std::nan(""), 1.0)));
}

}  // namespace
}  // namespace lockstep::train
