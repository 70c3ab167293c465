#include "lockstep/train/metrics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lockstep::train {
namespace {

using record::Task;

TEST(Metrics, CountTheSamplesWhoseLargestOutputIsTheirLabel) {
  const at::Tensor output = at::tensor({1.0F, 2.0F, 5.0F, 0.0F, 0.0F, 1.0F}).reshape({3, 2});
  const at::Tensor labels = at::tensor({1, 0, 0}, at::kLong);
  const at::Tensor strided = output.t().contiguous().t();
  for (const at::Tensor& scores : {output, output.to(at::kDouble), output.to(at::kBFloat16), strided}) {
    const Metrics metrics = metrics_of(Task::classification, scores, labels, 4.5);
    EXPECT_EQ(metrics.samples, 3);
    EXPECT_EQ(metrics.correct, 2);
    EXPECT_DOUBLE_EQ(*metrics.accuracy(), 2.0 / 3);
    EXPECT_DOUBLE_EQ(*metrics.loss(), 1.5);
    EXPECT_FALSE(metrics.psnr());
  }
}

TEST(Metrics, PsnrIsTheMeanOverImages) {
  const at::Tensor target = at::zeros({2, 3, 4, 4}, at::kDouble),
                   output = at::zeros({2, 3, 4, 4}, at::kDouble);
  output[0].fill_(0.1);   // MSE 0.01: 20 dB
  output[1].fill_(0.01);  // MSE 0.0001: 40 dB
  const Metrics metrics = metrics_of(Task::restoration, output, target, 1);
  EXPECT_NEAR(*metrics.psnr(), 30, 1e-12);
  EXPECT_FALSE(metrics.accuracy());
}

TEST(Metrics, APerfectImageHasAFiniteFigure) {
  const at::Tensor image = at::rand({1, 1, 4, 4});
  EXPECT_NEAR(*metrics_of(Task::restoration, image, image, 0).psnr(), 120, 1e-9);
}

TEST(Metrics, BatchesAddUp) {
  const at::Tensor output = at::randn({10, 4}), labels = at::randint(4, {10}, at::kLong);
  const Metrics whole = metrics_of(Task::classification, output, labels, 10);
  Metrics sum;
  for (const auto& [begin, end] : {std::pair(0, 3), std::pair(3, 3), std::pair(3, 10)}) {
    const double loss_sum = end - begin;
    sum.add(
        metrics_of(Task::classification, output.slice(0, begin, end), labels.slice(0, begin, end), loss_sum));
  }
  EXPECT_EQ(sum.samples, 10);
  EXPECT_EQ(sum.correct, whole.correct);
  EXPECT_EQ(*sum.loss(), 1);
  EXPECT_EQ(sum.accuracy(), whole.accuracy());
}

TEST(Metrics, WithoutSamplesThereAreNoMeans) {
  const Metrics none = metrics_of(Task::classification, at::empty({0, 4}), at::empty({0}, at::kLong), 0);
  EXPECT_FALSE(none.loss());
  EXPECT_FALSE(none.accuracy());
}

TEST(Metrics, SurviveJson) {
  const Metrics metrics{3, 1.25, 2, 0, Task::classification};
  const auto back = nlohmann::json::parse(nlohmann::json(metrics).dump()).get<Metrics>();
  EXPECT_EQ(back.samples, 3);
  EXPECT_EQ(back.loss_sum, 1.25);
  EXPECT_EQ(back.accuracy(), metrics.accuracy());
}

TEST(Metrics, ALossThatIsNotANumberStaysVisible) {
  const Metrics metrics = metrics_of(Task::any, at::zeros({2, 1}), at::zeros({2, 1}), std::nan(""));
  EXPECT_TRUE(std::isnan(*metrics.loss()));
}

}  // namespace
}  // namespace lockstep::train
