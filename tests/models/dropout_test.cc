// Dropout masks are keyed by sample, so they do not depend on how a batch is divided.
#include <gtest/gtest.h>

#include <vector>

#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

struct Case {
  Model model = make_model("alexnet", {.classes = 3, .image_height = 64, .image_width = 64}, at::kDouble);
  at::Tensor batch = make_batch(model, 8, at::kDouble);
  Runner runner;

  at::Tensor run(const at::Tensor& rows, const PassKey& key) {
    const at::NoGradGuard no_grad;
    return runner.forward(model.root(), rows, key);
  }
};

TEST(Dropout, ABatchOfEightEqualsTwoBatchesOfFourWithTheRightSampleOffsets) {
  Case test;
  const at::Tensor whole = test.run(test.batch, {.seed = 7, .step = 3, .first_sample = 100});
  const at::Tensor front = test.run(test.batch.slice(0, 0, 4), {.seed = 7, .step = 3, .first_sample = 100});
  const at::Tensor back = test.run(test.batch.slice(0, 4, 8), {.seed = 7, .step = 3, .first_sample = 104});
  EXPECT_LT((whole - at::cat({front, back})).abs().max().item<double>(), 1e-12);
  const at::Tensor wrong = test.run(test.batch.slice(0, 4, 8), {.seed = 7, .step = 3, .first_sample = 100});
  EXPECT_GT((back - wrong).abs().max().item<double>(), 1e-6);
}

TEST(Dropout, SamplesMayBeListedInAnyOrder) {
  Case test;
  const std::vector<std::int64_t> samples = {5, 9};
  const std::vector<std::int64_t> turned = {9, 5};
  const at::Tensor rows = test.batch.slice(0, 0, 2);
  const at::Tensor one = test.run(rows, {.seed = 7, .samples = samples});
  const at::Tensor other = test.run(rows.flip(0), {.seed = 7, .samples = turned}).flip(0);
  EXPECT_LT((one - other).abs().max().item<double>(), 1e-12);
}

TEST(Dropout, SeedAndStepGiveOtherMasksAndEvaluationNone) {
  Case test;
  const at::Tensor rows = test.batch.slice(0, 0, 2);
  const at::Tensor one = test.run(rows, {.seed = 7, .step = 3});
  EXPECT_FALSE(one.equal(test.run(rows, {.seed = 8, .step = 3})));
  EXPECT_FALSE(one.equal(test.run(rows, {.seed = 7, .step = 4})));
  const at::Tensor plain = test.run(rows, {.training = false, .seed = 7, .step = 3});
  EXPECT_TRUE(plain.equal(test.run(rows, {.training = false, .seed = 8, .step = 9})));
}

}  // namespace
}  // namespace lockstep::models
