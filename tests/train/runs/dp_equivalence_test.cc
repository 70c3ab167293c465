// dp computes what ddp does, step by step, with any number of replicas and any of its switches.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/pairwise.h"
#include "tests/support/ranks.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

struct Model {
  std::string name;
  std::string flags;
};

// Augmentation and dropout are on where a model or set has them.
const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"lenet5", "--model lenet5 --data digits --train-samples 240 --augment crop"},
      {"vit", "--model vit --data digits --train-samples 240"},
      {"narrow_resnet18_cifar",
       "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 "
       "--augment crop-flip --buffers sync"},
  };
  return all;
}

std::string flags_for(const Model& model, const std::string& more) {
  return model.flags +
         " --precision f64 --global-batch 24 --steps 20 --learning-rate 0.02 --validate-every 0 --threads "
         "1 " +
         more;
}

// A case: model, replicas less one, and each of the four switches.
std::vector<Choice> cases() {
  const std::vector<int> sizes = {static_cast<int>(models().size()), 4, 2, 2, 2, 2};
  return full_matrix() ? all_choices(sizes) : pairwise_choices(sizes, [](const Choice&) { return true; });
}

std::string dp_flags(const Choice& choice) {
  std::string flags = "--strategy dp --piece-bytes 64K --workers " + std::to_string(choice[1] + 1);
  if (choice[2] == 1) flags += " --coalesced-broadcast";
  if (choice[3] == 1) flags += " --threaded-scatter";
  if (choice[4] == 1) flags += " --coalesced-reduction";
  if (choice[5] == 1) flags += " --keep-originals";
  return flags;
}

// Every pair of a model, a number of replicas and the switches; everything when the complete matrix is asked
// for.
TEST(DpEquivalence, DpFollowsTheLossCurveOfDdp) {
  const TrainStore store;
  std::map<int, std::vector<double>> curves;
  for (const Choice& choice : cases()) {
    const Model& model = models()[static_cast<std::size_t>(choice[0])];
    std::vector<double>& curve = curves[choice[0]];
    if (curve.empty()) {
      const TrainRun ddp = store.train(flags_for(model, "--strategy ddp --workers 2 --check-every 1"));
      ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
      curve = ddp.losses();
      ASSERT_EQ(curve.size(), 20u);
    }
    const TrainRun dp = store.train(flags_for(model, dp_flags(choice)));
    ASSERT_EQ(dp.exit_code, 0) << dp.err;
    EXPECT_LE(largest_difference(curve, dp.losses()), 1e-9) << model.name << " " << dp_flags(choice);
  }
}

TEST(DpEquivalence, HoldsWhenTheLastBatchHasFewerSamplesThanReplicas) {
  const TrainStore store;
  for (const std::string& model :
       {std::string("--model lenet5 --data digits"),
        std::string(
            "--model resnet18-cifar --model-options width=4 --data digits --image-size 16 --buffers sync")}) {
    const std::string flags =
        model +
        " --precision f64 --train-samples 50 --global-batch 16 --epochs 2 --validate-every 0 "
        "--threads 1 ";
    const TrainRun ddp = store.train(flags + "--strategy ddp --workers 3");  // 2 samples in the last step
    ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
    for (const std::string more : {"", " --threaded-scatter --coalesced-reduction"}) {
      const TrainRun dp = store.train(flags + "--strategy dp --workers 3" + more);
      ASSERT_EQ(dp.exit_code, 0) << dp.err;
      EXPECT_LE(largest_difference(ddp.losses(), dp.losses()), 1e-9) << flags << more;
    }
  }
}

TEST(DpEquivalence, HoldsWithAccumulatedGradientsDropoutAndAdam) {
  const TrainStore store;
  const std::string flags =
      "--model squeezenet1_0 --data digits --train-samples 120 --image-size 32 --precision f64 "
      "--global-batch 12 "
      "--steps 6 --optimizer adam --learning-rate 0.001 --validate-every 0 --threads 1 ";
  const TrainRun alone = store.train(flags + "--workers 1");
  const TrainRun dp = store.train(flags + "--strategy dp --workers 2 --accumulate 3");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  ASSERT_EQ(dp.exit_code, 0) << dp.err;
  EXPECT_LE(largest_difference(alone.losses(), dp.losses()), 1e-9);
}

// As in ddp, replica 0's statistics are those that are kept, and evaluation uses.
TEST(DpEquivalence, ValidatesWithTheBuffersOfTheFirstReplica) {
  const TrainStore store;
  const std::string flags =
      "--model resnet18-cifar --model-options width=4 --data digits --train-samples 60 --val-samples 31 "
      "--image-size 16 --precision f64 --global-batch 12 --epochs 2 --threads 1 --buffers broadcast "
      "--workers 3 ";
  const TrainRun ddp = store.train(flags + "--strategy ddp");
  ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
  for (const std::string more : {"", " --keep-originals", " --coalesced-broadcast"}) {
    const TrainRun dp = store.train(flags + "--strategy dp" + more);
    ASSERT_EQ(dp.exit_code, 0) << dp.err;
    EXPECT_LE(largest_difference(ddp.losses(), dp.losses()), 1e-9);
    for (std::size_t epoch = 0; epoch < 2; ++epoch) {
      const auto& one = ddp.record.at("epochs")[epoch];
      const auto& other = dp.record.at("epochs")[epoch];
      EXPECT_NEAR(one.at("val_loss").get<double>(), other.at("val_loss").get<double>(), 1e-9) << more;
      EXPECT_NEAR(one.at("val_accuracy").get<double>(), other.at("val_accuracy").get<double>(), 1e-12)
          << more;
      EXPECT_NEAR(one.at("train_loss").get<double>(), other.at("train_loss").get<double>(), 1e-9) << more;
    }
  }
}

}  // namespace
}  // namespace lockstep::testing
