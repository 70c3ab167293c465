#include "lockstep/models/loss.h"

#include <gtest/gtest.h>

#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

at::Tensor values(at::IntArrayRef sizes, const char* name) {
  at::Tensor made = at::empty(sizes, at::TensorOptions().dtype(at::kDouble));
  fill(made, Init::uniform(1.0), 3, name);
  return made;
}

TEST(Loss, UnevenSharesAddUpToTheWholeBatch) {
  const at::Tensor logits = values({7, 5}, "logits");
  const at::Tensor classes = at::arange(7).remainder(5);
  const double whole = mean_loss(LossKind::cross_entropy, logits, classes).item<double>();
  const double front =
      loss_of(LossKind::cross_entropy, logits.slice(0, 0, 4), classes.slice(0, 0, 4), 7).item<double>();
  const double back =
      loss_of(LossKind::cross_entropy, logits.slice(0, 4, 7), classes.slice(0, 4, 7), 7).item<double>();
  EXPECT_NEAR(whole, front + back, 1e-15);
}

TEST(Loss, SquaredErrorIsTheMeanOverASamplesValues) {
  for (const LossKind kind : {LossKind::mse, LossKind::restore}) {
    const at::Tensor one = values({4, 3, 2, 2}, "one"), other = values({4, 3, 2, 2}, "other");
    EXPECT_NEAR(mean_loss(kind, one, other).item<double>(), (one - other).square().mean().item<double>(),
                1e-15);
  }
}

TEST(Loss, ATargetWithoutTheLastAxisFitsOneValueASample) {
  const at::Tensor output = values({4, 1}, "output"), target = values({4}, "target");
  EXPECT_NEAR(mean_loss(LossKind::mse, output, target).item<double>(),
              (output.flatten() - target).square().mean().item<double>(), 1e-15);
}

}  // namespace
}  // namespace lockstep::models
