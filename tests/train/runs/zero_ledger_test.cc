// The bytes of zero1 and zero3, from recorded messages, against the formulas of the catalogue.
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kSteps = 6;

// A model with the bytes of its parameters and of its head's, and of the buffers that move (f32 and counts).
struct Sized {
  std::string flags;
  std::uint64_t parameters, head, buffers;
};

// lenet5: 61,706 parameters of which fc3 has 84 x 10 + 10; vit: 5,322; the narrow ResNet: counted here by its
// description, 20 batch norms with two statistics of each channel and a count.
std::uint64_t resnet_parameters(std::uint64_t w) {
  std::uint64_t sum = w * 9 + 2 * w;  // one input channel
  for (std::uint64_t stage = 0, in = w; stage < 4; ++stage) {
    const std::uint64_t out = w << stage;
    sum += in * out * 9 + out * out * 9 * 3 + 8 * out;
    if (in != out) sum += in * out + 2 * out;
    in = out;
  }
  return sum + (8 * w) * 10 + 10;
}
std::uint64_t resnet_buffers(std::uint64_t w) {
  const std::uint64_t channels = w + 4 * w + (4 + 1) * (2 + 4 + 8) * w;
  return 2 * channels * 4 + 20 * 8;
}

std::vector<Sized> models() {
  return {{"--model lenet5", 61706 * 4, 850 * 4, 0},
          {"--model vit", 5322 * 4, 170 * 4, 0},
          {"--model resnet18-cifar --model-options width=6 --image-size 16 --augment none",
           resnet_parameters(6) * 4, (48 * 10 + 10) * 4, resnet_buffers(6)}};
}

TrainRun run_of(const TrainStore& store, const std::string& flags, int workers) {
  return store.train(
      flags +
      " --data digits --train-samples 240 --global-batch 24 --validate-every 0 --check-every 0 "
      "--threads 1 --steps 6 --workers " +
      std::to_string(workers));
}

// Parameters and buffers go to all before the first step. Buffers move in every step, and when the run ends.
void expect_common(const TrainRun& run, const Sized& model) {
  EXPECT_EQ(run.payload_bytes("parameter", "broadcast"), model.parameters) << model.flags;
  EXPECT_EQ(run.payload_bytes("buffer"), model.buffers * (1 + kSteps + 1)) << model.flags;
  EXPECT_EQ(run.payload_bytes("metric", "all_reduce"), kSteps * 4) << model.flags;
  EXPECT_EQ(run.payload_bytes("gradient"), run.payload_bytes("gradient", "reduce_scatter")) << model.flags;
}

TEST(LedgerOfZero1, IsGradientsOnceAndParametersOnceAStep) {
  const TrainStore store;
  for (const Sized& model : models()) {
    for (const int workers : {2, 3}) {
      const TrainRun run = run_of(store, model.flags + " --strategy zero1", workers);
      ASSERT_EQ(run.exit_code, 0) << run.err;
      expect_common(run, model);
      EXPECT_EQ(run.payload_bytes("gradient"), kSteps * model.parameters) << model.flags;
      EXPECT_EQ(run.payload_bytes("parameter", "all_gather"), kSteps * model.parameters) << model.flags;
    }
  }
}

// All parameters are gathered once more when the run ends.
TEST(LedgerOfZero3, IsGradientsOnceAndParametersTwiceAStep) {
  const TrainStore store;
  for (const Sized& model : models()) {
    for (const int workers : {2, 3}) {
      const TrainRun run = run_of(store, model.flags + " --strategy zero3", workers);
      ASSERT_EQ(run.exit_code, 0) << run.err;
      expect_common(run, model);
      EXPECT_EQ(run.payload_bytes("gradient"), kSteps * model.parameters) << model.flags;
      EXPECT_EQ(run.payload_bytes("parameter", "all_gather"), (2 * kSteps + 1) * model.parameters)
          << model.flags;
    }
  }
}

// Over gloo a rank sends (N - 1) / N of what a reduce-scatter or all-gather moves; over all ranks N - 1 times
// the payload, and what does not divide is padded on the wire only.
TEST(LedgerOfZero, CountsPaddingAsWireAndNeverAsPayload) {
  const TrainStore store;
  const Sized model = models().front();
  for (const std::string strategy : {"zero1", "zero3"}) {
    const TrainRun run = run_of(store, model.flags + " --backend gloo --strategy " + strategy, 4);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.payload_bytes("gradient"), kSteps * model.parameters);
    EXPECT_GE(run.wire_bytes("gradient"), 3 * kSteps * model.parameters);
    EXPECT_LE(run.wire_bytes("gradient"), 3 * kSteps * model.parameters * 102 / 100);
  }
}

// Each part of the batch gathers and reduces; what is frozen has no gradient, and no backward where nothing
// before it is trained.
TEST(LedgerOfZero3, GrowsWithPartsAndShrinksWithWhatIsFrozen) {
  const TrainStore store;
  const Sized model = models().front();
  const TrainRun parts = run_of(store, model.flags + " --strategy zero3 --accumulate 3", 2);
  ASSERT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_EQ(parts.payload_bytes("gradient"), 3 * kSteps * model.parameters);
  EXPECT_EQ(parts.payload_bytes("parameter", "all_gather"), (3 * 2 * kSteps + 1) * model.parameters);
  const TrainRun frozen = run_of(store, model.flags + " --strategy zero3 --trainable head", 2);
  ASSERT_EQ(frozen.exit_code, 0) << frozen.err;
  EXPECT_EQ(frozen.payload_bytes("gradient"), kSteps * model.head);
  EXPECT_EQ(frozen.payload_bytes("parameter", "all_gather"),
            (kSteps + 1) * model.parameters + kSteps * model.head);
}

}  // namespace
}  // namespace lockstep::testing
