// Local SGD: workers that step alone, and average their parameters now and then.
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kLenetBytes = 61'706 * sizeof(float);

const std::string kCurve =
    "--model lenet5 --precision f64 --momentum 0 --global-batch 24 --steps 20 --learning-rate 0.02 "
    "--validate-every 0 --threads 1 ";

TEST(LocalSgd, AveragedAfterEveryStepItFollowsDdpsLossCurve) {
  const TrainStore store;
  const TrainRun ddp = store.train(kCurve + "--strategy ddp --workers 2");
  ASSERT_EQ(ddp.exit_code, 0) << ddp.err;
  for (const std::string workers : {"2 --backend shm", "3 --backend gloo", "4 --accumulate 2"}) {
    const TrainRun local = store.train(kCurve + "--strategy localsgd --local-steps 1 --workers " + workers);
    ASSERT_EQ(local.exit_code, 0) << local.err;
    EXPECT_LE(largest_difference(ddp.losses(), local.losses()), 1e-9) << workers;
  }
}

TEST(LocalSgd, AveragedAfterEveryStepItFollowsDdpWhereTheLastBatchIsUneven) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --precision f64 --momentum 0 --train-samples 50 --global-batch 16 --epochs 2 "
      "--validate-every 0 --threads 1 --workers 3 ";  // the last step has 2 samples for 3 workers
  const TrainRun ddp = store.train(flags + "--strategy ddp");
  const TrainRun local = store.train(flags + "--strategy localsgd --local-steps 1");
  ASSERT_EQ(local.exit_code, 0) << local.err;
  EXPECT_LE(largest_difference(ddp.losses(), local.losses()), 1e-9);
}

TEST(LocalSgd, AveragedLaterItIsAnotherCurve) {
  const TrainStore store;
  const TrainRun often = store.train(kCurve + "--strategy localsgd --local-steps 1 --workers 2");
  const TrainRun rarely = store.train(kCurve + "--strategy localsgd --local-steps 8 --workers 2");
  ASSERT_EQ(rarely.exit_code, 0) << rarely.err;
  EXPECT_GT(largest_difference(often.losses(), rarely.losses()), 1e-6);
}

// 12 steps in 2 epochs; averaged after 4 steps of each epoch and at its end.
TEST(LocalSgd, SendsTheParametersOnceForEveryAveraging) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--model lenet5 --train-samples 96 --global-batch 16 --epochs 2 --threads 1 --workers 2 "
      "--validate-every 0 --strategy localsgd --local-steps 4");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.payload_bytes("parameter", "all_reduce"), 4 * kLenetBytes);
  EXPECT_EQ(run.payload_bytes("parameter", "broadcast"), kLenetBytes);
  EXPECT_EQ(run.payload_bytes("gradient"), 0u);
  EXPECT_EQ(run.payload_bytes("metric", "all_reduce") % sizeof(float), 0u);
}

TEST(LocalSgd, TellsHowGoodEachWorkerIsBeforeAveraging) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--model lenet5 --train-samples 320 --val-samples 200 --batch-size 16 --epochs 2 --threads 1 --workers "
      "2 "
      "--strategy localsgd");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const auto& epoch : run.record.at("epochs")) {
    const double before = epoch.at("before_averaging").at("val_loss");
    EXPECT_NE(before, epoch.at("val_loss").get<double>());
    ASSERT_EQ(epoch.at("per_rank").size(), 2u);
    double mean = 0;
    for (const auto& rank : epoch.at("per_rank"))
      mean += rank.at("before_averaging").at("val_loss").get<double>() / 2;
    EXPECT_NEAR(mean, before, 1e-9);
  }
}

TEST(LocalSgd, RefusesWhatWouldMakeWorkersMeetInEveryStep) {
  const TrainStore store;
  const TrainRun sync = store.train("--model resnet18-cifar --strategy localsgd --workers 2 --buffers sync");
  EXPECT_EQ(sync.exit_code, 3);
  EXPECT_NE(sync.err.find("buffers average"), std::string::npos) << sync.err;
  const TrainRun ddp = store.train("--model lenet5 --strategy ddp --workers 2 --local-steps 4");
  EXPECT_EQ(ddp.exit_code, 3);
  EXPECT_NE(ddp.err.find("strategy localsgd"), std::string::npos) << ddp.err;
}

}  // namespace
}  // namespace lockstep::testing
