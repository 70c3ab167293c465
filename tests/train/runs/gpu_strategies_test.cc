// horovod and dp on one GPU: what they compute is what cores compute, and what they say of it is true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/runs/gpu_runs.h"

namespace lockstep::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kSeconds = 300;

const std::string kLenet = "--model lenet5 --data digits --train-samples 240 --augment crop ";
const std::string kDropout = "--model squeezenet1_0 --image-size 32 --data digits --train-samples 96 ";
const std::string kResnet =
    "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 "
    "--buffers sync ";

const std::string kVit = "--model vit --data digits --train-samples 240 ";
const std::string kNorms =
    "--model resnet18-cifar --model-options width=8 --data digits --train-samples 240 --image-size 16 "
    "--buffers broadcast ";

const std::string kFewSteps =
    "--data digits --train-samples 240 --global-batch 24 --steps 8 --learning-rate 0.02 --validate-every 0 "
    "--threads 1 ";

std::vector<double> first_two(std::vector<double> losses) {
  losses.resize(2);
  return losses;
}

class GpuStrategies : public GpuRuns {
 protected:
  TrainRun train(const std::string& model, const std::string& more) const {
    return store_.train(model +
                            "--precision f64 --global-batch 24 --steps 20 --learning-rate 0.02 "
                            "--validate-every 0 --threads 1 " +
                            more,
                        kSeconds);
  }
  std::vector<double> on_cores(const std::string& model) const {
    const TrainRun run = train(model, "--strategy ddp --workers 2 --device cpu");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.losses();
  }
  void expect_curve(const std::vector<double>& curve, const std::string& model,
                    const std::string& flags) const {
    const TrainRun run = train(model, "--device cuda " + flags);
    ASSERT_EQ(run.exit_code, 0) << flags << ": " << run.err;
    EXPECT_LE(largest_difference(curve, run.losses()), 1e-9) << flags;
  }
};

TEST_F(GpuStrategies, DdpInAGraphFollowsTheLossCurveOfCoresWithManyKindsOfLayers) {
  for (const std::string& model : {kVit, kDropout, kNorms})
    expect_curve(on_cores(model), model,
                 "--strategy ddp --workers 2 --backend p2p --graph on" + std::string(kSlice));
}

// Tensors of odd sizes lie anywhere in a bucket or a layer, and the kernels read them where they are. In bf16
// deep nets drift apart within a few steps, so there the first two losses are compared; f64 says the rest.
TEST_F(GpuStrategies, DividedModelsTrainWhereverTheirTensorsLie) {
  struct Case {
    const char *model, *precision;
    bool all_losses;
  };
  for (const Case& each :
       {Case{"lenet5 --image-size 28", "bf16", false}, Case{"resnet18-cifar --image-size 32", "bf16", false},
        Case{"densenet121 --image-size 32", "bf16", false},
        Case{"resnet18-cifar --image-size 32", "f64", true}}) {
    const std::string flags = kFewSteps +
                              "--workers 2 --device cuda --slice-share 25% --timeout 30s --model " +
                              each.model + " --precision " + each.precision;
    const TrainRun whole = store_.train(flags + " --strategy ddp --backend p2p --graph off", kSeconds);
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    for (const std::string strategy :
         {"zero1 --backend p2p", "zero1 --backend nccl", "zero3 --backend nccl"}) {
      const TrainRun run = store_.train(flags + " --strategy " + strategy, kSeconds);
      ASSERT_EQ(run.exit_code, 0) << flags << strategy << ": " << run.err;
      if (each.all_losses)
        EXPECT_LE(largest_difference(whole.losses(), run.losses()), 1e-9) << flags << strategy;
      else
        EXPECT_LE(largest_difference(first_two(whole.losses()), first_two(run.losses())), 0.02)
            << flags << strategy;
    }
  }
}

TEST_F(GpuStrategies, HorovodFollowsTheLossCurveOfCoresWithAnyOfItsSwitches) {
  const std::vector<double> curve = on_cores(kLenet);
  const std::string horovod = "--strategy horovod --check-every 1 --workers 2 --backend ";
  for (const std::string flags :
       {"shm --overlap on --fusion-bytes 2K", "p2p --overlap off", "nccl --overlap on --fusion-bytes 2K",
        "p2p --overlap on --cache-capacity 3 --accumulate 3"})
    expect_curve(curve, kLenet, horovod + flags);
}

// Models that keep the device busy for longer than the host, whose tensors are of all sizes up to many times
// the fusion buffer's.
TEST_F(GpuStrategies, HorovodTrainsInBf16AsDdpDoes) {
  for (const std::string model : {"--model resnet18-cifar --image-size 32 ",
                                  "--model densenet121 --image-size 32 ", "--model vgg16 --image-size 32 "}) {
    const std::string flags =
        kFewSteps + model +
        "--precision bf16 --check-every 1 --workers 3 --device cuda --slice-share 25% --timeout 30s "
        "--backend p2p ";
    const TrainRun whole = store_.train(flags + "--strategy ddp", kSeconds);
    ASSERT_EQ(whole.exit_code, 0) << model << whole.err;
    for (const std::string overlap : {"off", "on"}) {
      const TrainRun run =
          store_.train(flags + "--strategy horovod --fusion-bytes 256K --overlap " + overlap, kSeconds);
      ASSERT_EQ(run.exit_code, 0) << model << overlap << ": " << run.err;
      EXPECT_LE(largest_difference(first_two(whole.losses()), first_two(run.losses())), 0.02)
          << model << overlap;
    }
  }
}

TEST_F(GpuStrategies, HorovodFollowsItWithSynchronisedBatchNormsToo) {
  const std::vector<double> curve = on_cores(kResnet);
  for (const std::string backend : {"shm", "p2p"})
    expect_curve(curve, kResnet, "--strategy horovod --workers 2 --overlap on --backend " + backend);
}

TEST_F(GpuStrategies, HorovodRoundsWhatItSends) {
  const std::string flags = kLenet +
                            "--steps 20 --global-batch 24 --validate-every 0 --strategy horovod --workers 2 "
                            "--device cuda --backend shm --precision f32 ";
  const TrainRun whole = store_.train(flags, kSeconds);
  const TrainRun half = store_.train(flags + "--compression f16", kSeconds);
  ASSERT_EQ(half.exit_code, 0) << half.err;
  EXPECT_EQ(2 * half.payload_bytes("gradient"), whole.payload_bytes("gradient"));
  EXPECT_LE(largest_difference(whole.losses(), half.losses()), 2e-3);
}

TEST_F(GpuStrategies, DpFollowsTheLossCurveOfCoresWithAnyOfItsSwitches) {
  const std::string switches =
      "--coalesced-broadcast --coalesced-reduction --threaded-scatter --keep-originals --piece-bytes 64K ";
  const std::vector<double> lenet = on_cores(kLenet);
  for (const std::string flags : {"--workers 1", "--workers 3", "--workers 2 --accumulate 3"})
    expect_curve(lenet, kLenet, "--strategy dp " + flags);
  expect_curve(on_cores(kDropout), kDropout, "--strategy dp --workers 2 " + switches);
  expect_curve(on_cores(kResnet), kResnet, "--strategy dp --workers 3 " + switches);
}

TEST_F(GpuStrategies, DpReportsEveryReplicaAndThatTheyAreNotSlices) {
  const TrainRun run =
      store_.train(kLenet + "--steps 40 --global-batch 48 --strategy dp --workers 3 --device cuda", kSeconds);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.record.at("warnings").get<std::vector<std::string>>(),
              Contains(HasSubstr("not sliced: 3")));
  const auto& ranks = run.record.at("per_rank");
  ASSERT_EQ(ranks.size(), 3u);
  for (const auto& rank : ranks) {
    EXPECT_GT(rank.at("split_seconds").at("forward").get<double>(), 0.0);
    EXPECT_GT(rank.at("split_seconds").at("backward").get<double>(), 0.0);
    EXPECT_GT(rank.at("split_seconds").at("exposed_comm").get<double>(), 0.0);
    EXPECT_GT(rank.at("primitives_seconds").at("apply").get<double>(), 0.0);
  }
  for (int rank = 0; rank < 3; ++rank) {
    int steps = 0;
    for (const record::Event& event : run.events(rank))
      steps += std::holds_alternative<record::StepEvent>(event.body) ? 1 : 0;
    EXPECT_EQ(steps, 40) << rank;
  }
}

}  // namespace
}  // namespace lockstep::testing
