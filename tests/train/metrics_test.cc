#include "lockstep/train/metrics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/models/loss.h"

namespace lockstep::train {
namespace {

using models::LossKind;

TEST(Metrics, CountTheSamplesWhoseLargestOutputIsTheirLabel) {
  const at::Tensor output = at::tensor({1.0F, 2.0F, 5.0F, 0.0F, 0.0F, 1.0F}).reshape({3, 2});
  const Metrics metrics = metrics_of(LossKind::cross_entropy, output, at::tensor({1, 0, 0}, at::kLong));
  EXPECT_EQ(metrics.samples, 3);
  EXPECT_EQ(metrics.correct, 2);
  EXPECT_DOUBLE_EQ(*metrics.accuracy(), 2.0 / 3);
  EXPECT_FALSE(metrics.psnr());
}

TEST(Metrics, LossIsTheMeanOverSamples) {
  const at::Tensor output = at::randn({8, 4}, at::kDouble), target = at::randint(4, {8}, at::kLong);
  const double expected = models::mean_loss(LossKind::cross_entropy, output, target).item<double>();
  EXPECT_NEAR(*metrics_of(LossKind::cross_entropy, output, target).loss(), expected, 1e-14);
}

TEST(Metrics, SquaredErrorsHaveALossAndNothingElse) {
  const at::Tensor output = at::tensor({1.0F, 2.0F}).reshape({2, 1});
  const Metrics metrics = metrics_of(LossKind::mse, output, at::zeros({2}));
  EXPECT_EQ(*metrics.loss(), 2.5);
  EXPECT_FALSE(metrics.accuracy());
  EXPECT_FALSE(metrics.psnr());
}

TEST(Metrics, PsnrIsTheMeanOverImages) {
  const at::Tensor target = at::zeros({2, 3, 4, 4}, at::kDouble),
                   output = at::zeros({2, 3, 4, 4}, at::kDouble);
  output[0].fill_(0.1);   // MSE 0.01: 20 dB
  output[1].fill_(0.01);  // MSE 0.0001: 40 dB
  const Metrics metrics = metrics_of(LossKind::restore, output, target);
  EXPECT_NEAR(*metrics.psnr(), 30, 1e-12);
  EXPECT_FALSE(metrics.accuracy());
}

TEST(Metrics, APerfectImageHasAHundredDecibels) {
  const at::Tensor image = at::rand({1, 1, 4, 4});
  EXPECT_NEAR(*metrics_of(LossKind::restore, image, image).psnr(), 100, 1e-12);
}

TEST(Metrics, BatchesAndRanksAddUp) {
  const at::Tensor output = at::randn({10, 4}, at::kDouble), target = at::randint(4, {10}, at::kLong);
  const Metrics whole = metrics_of(LossKind::cross_entropy, output, target);
  Metrics sum{LossKind::cross_entropy};
  MetricsTally tally(LossKind::cross_entropy);
  for (const auto& [begin, end] : {std::pair(0, 3), std::pair(3, 3), std::pair(3, 10)}) {
    const at::Tensor part = output.slice(0, begin, end), labels = target.slice(0, begin, end);
    sum += metrics_of(LossKind::cross_entropy, part, labels);
    tally.add(part, labels);
  }
  for (const Metrics& metrics : {sum, tally.total()}) {
    EXPECT_EQ(metrics.samples, 10);
    EXPECT_EQ(metrics.correct, whole.correct);
    EXPECT_NEAR(metrics.loss_sum, whole.loss_sum, 1e-13);
  }
}

TEST(Metrics, TakeALossThatIsKnownAlready) {
  MetricsTally tally(LossKind::cross_entropy);
  const at::Tensor output = at::randn({4, 3}), labels = at::zeros({4}, at::kLong);
  tally.add(output, labels, at::scalar_tensor(2.5));
  tally.add(output, labels, at::scalar_tensor(1.5));
  EXPECT_EQ(tally.total().loss_sum, 4);
  EXPECT_EQ(*tally.total().loss(), 0.5);
  tally.clear();
  EXPECT_EQ(tally.total().samples, 0);
}

TEST(Metrics, WithoutSamplesThereAreNoMeans) {
  const Metrics none = MetricsTally(LossKind::cross_entropy).total();
  EXPECT_FALSE(none.loss());
  EXPECT_FALSE(none.accuracy());
}

TEST(Metrics, SurviveBeingSentAsNumbers) {
  const Metrics metrics{LossKind::restore, 3, 1.25, 0, 90};
  const Metrics received = Metrics::from_sums(LossKind::restore, metrics.sums());
  EXPECT_EQ(received.sums(), metrics.sums());
  EXPECT_EQ(*received.psnr(), 30);
}

TEST(Metrics, ALossThatIsNotANumberStaysVisible) {
  const at::Tensor output = at::full({2, 3}, std::nan(""));
  EXPECT_TRUE(std::isnan(*metrics_of(LossKind::cross_entropy, output, at::zeros({2}, at::kLong)).loss()));
}

}  // namespace
}  // namespace lockstep::train
