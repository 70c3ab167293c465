// zero1 and zero3 compute what ddp does, step by step: over models, workers and backends.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/pairwise.h"
#include "tests/support/ranks.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

const std::vector<std::string> kStrategies = {"zero1", "zero3"};
const std::vector<std::string> kBackends = {"shm", "gloo"};
const std::vector<std::string> kModels = {
    "--model lenet5 --data digits --train-samples 240",
    "--model vit --data digits --train-samples 240",
    "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 "
    "--augment crop-flip --buffers sync",
};
constexpr int kMostWorkers = 4;
constexpr double kTolerance = 1e-9;

std::string flags_for(const std::string& model, const std::string& strategy, int workers,
                      const std::string& more = "") {
  return model +
         " --precision f64 --global-batch 24 --steps 20 --learning-rate 0.02 --validate-every 0 "
         "--check-every "
         "1 --threads 1 --strategy " +
         strategy + " --workers " + std::to_string(workers) + " " + more;
}

// One loss curve of ddp for every set of flags that is asked for.
class ZeroFollowsDdp : public ::testing::Test {
 protected:
  void expect_same_curve(const std::string& model, const std::string& strategy, int workers,
                         const std::string& more, const std::string& ddp_more) {
    const TrainRun run = store_.train(flags_for(model, strategy, workers, more));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::vector<double>& expected = curve_of_ddp(model, ddp_more);
    ASSERT_EQ(expected.size(), 20u);
    EXPECT_LE(largest_difference(expected, run.losses()), kTolerance)
        << strategy << ", " << workers << " workers, " << more << ": " << model;
  }
  void expect_same_curve(const std::string& strategy, const std::string& more) {
    expect_same_curve(kModels[0], strategy, 3, more, more);
  }

 private:
  const std::vector<double>& curve_of_ddp(const std::string& model, const std::string& more) {
    std::vector<double>& curve = curves_[model + more];
    if (!curve.empty()) return curve;
    const TrainRun run = store_.train(flags_for(model, "ddp", 2, more));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return curve = run.losses();
  }

  TrainStore store_;
  std::map<std::string, std::vector<double>> curves_;
};

TEST_F(ZeroFollowsDdp, OverModelsWorkersAndBackends) {
  const std::vector<int> sizes = {static_cast<int>(kStrategies.size()), static_cast<int>(kModels.size()),
                                  kMostWorkers, static_cast<int>(kBackends.size())};
  const auto choices =
      full_matrix() ? all_choices(sizes) : pairwise_choices(sizes, [](const Choice&) { return true; });
  for (const Choice& choice : choices) {
    const auto at = [&](std::size_t dimension) { return static_cast<std::size_t>(choice[dimension]); };
    expect_same_curve(kModels[at(1)], kStrategies[at(0)], choice[2] + 1, "--backend " + kBackends[at(3)], "");
  }
}

TEST_F(ZeroFollowsDdp, OverMpi) {
  expect_same_curve(kModels[0], "zero1", 3, "--backend mpi", "");
  expect_same_curve(kModels[1], "zero3", 2, "--backend mpi", "");
}

// A norm and moments are of the whole model, though each worker sees a part of it.
TEST_F(ZeroFollowsDdp, WithClippingAndAdam) {
  for (const std::string& strategy : kStrategies)
    expect_same_curve(strategy, "--optimizer adam --learning-rate 0.002 --clip-norm 0.5 --weight-decay 0.01");
}

TEST_F(ZeroFollowsDdp, WithAccumulatedGradientsAndAnUnevenBatch) {
  for (const std::string& strategy : kStrategies)
    expect_same_curve(strategy, "--accumulate 4 --train-samples 74");  // 8 samples each, and 2 at the end
}

TEST_F(ZeroFollowsDdp, WithFrozenParameters) {
  for (const std::string& strategy : kStrategies) expect_same_curve(strategy, "--trainable head");
}

TEST_F(ZeroFollowsDdp, WithoutOverlapAndWithManyBuckets) {
  for (const std::string& strategy : kStrategies) {
    expect_same_curve(kModels[0], strategy, 3, "--overlap off", "");
    expect_same_curve(kModels[0], strategy, 2, "--overlap on --bucket-bytes 64K --first-bucket-bytes 4K", "");
  }
}

// Workers that have no samples in the last step of an epoch still hold shards that the others need.
TEST_F(ZeroFollowsDdp, WhenAWorkerHasNoSamples) {
  for (const std::string& model : kModels)
    for (const std::string& strategy : kStrategies)
      expect_same_curve(model, strategy, 4, "--train-samples 50", "--train-samples 50");  // 24, 24 and 2
}

TEST_F(ZeroFollowsDdp, AndValidatesWithWholeParameters) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --data digits --train-samples 96 --val-samples 50 --precision f64 --global-batch 24 "
      "--epochs 2 --threads 1 --workers 3 --strategy ";
  const TrainRun ddp = store.train(flags + "ddp");
  ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
  for (const std::string& strategy : kStrategies) {
    const TrainRun run = store.train(flags + strategy);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (const std::size_t epoch : {0u, 1u})
      EXPECT_NEAR(run.record["epochs"][epoch]["val_loss"].get<double>(),
                  ddp.record["epochs"][epoch]["val_loss"].get<double>(), kTolerance)
          << strategy;
  }
}

}  // namespace
}  // namespace lockstep::testing
