// Every byte of dp, from recorded messages, against its formula: payload bytes per step with N replicas,
//
//   parameter   A                  every parameter, broadcast
//   buffer      B                  every buffer, broadcast
//   input       X - X0             rows of the other replicas, sent in turn; X, one scatter, when threaded
//   output      O + (O - O0)       gathered, and their gradients sent; O + O when threaded
//   gradient    P                  trained parameters, reduced
//   statistics  8 N (4 C + 1)      for each synchronised batch norm of C channels: in forward means, squares
//                                  and a count, in backward two sums, gathered from all
//
// and at the boundary from the loader the batch in f32, as for every strategy. X0 and O0 are the rows of
// replica 0. One replica sends nothing.
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kSteps = 4;

struct Sizes {  // of one sample or of the model, in elements but for the buffers
  std::uint64_t parameters, trained, buffer_bytes, input, output;
  std::uint64_t statistics = 0;  // sum over batch norms of 4 C + 1
};

struct Batch {
  std::uint64_t global, first;  // samples of all replicas, and of replica 0
};

std::uint64_t messages_of(const TrainRun& run, const std::string& purpose, const std::string& collective) {
  std::uint64_t messages = 0;
  for (const auto& line : run.record.at("ledger"))
    if (line.at("purpose") == purpose && line.at("collective") == collective)
      messages += line.at("messages").get<std::uint64_t>();
  return messages;
}

void expect_formula(const TrainRun& run, const Sizes& sizes, const Batch& batch, std::uint64_t replicas,
                    bool threaded, std::uint64_t element_bytes) {
  const std::uint64_t alone = replicas == 1 ? 0 : 1;
  const std::uint64_t others = batch.global - batch.first;
  const std::uint64_t scattered = threaded ? batch.global : others;
  const std::uint64_t loaded = kSteps * batch.global * sizes.input * 4;
  EXPECT_EQ(run.payload_bytes("parameter"), alone * kSteps * sizes.parameters * element_bytes);
  EXPECT_EQ(run.payload_bytes("buffer"), alone * kSteps * sizes.buffer_bytes);
  EXPECT_EQ(run.payload_bytes("input"), loaded + alone * kSteps * scattered * sizes.input * element_bytes);
  EXPECT_EQ(run.payload_bytes("output"),
            alone * kSteps * (batch.global + scattered) * sizes.output * element_bytes);
  EXPECT_EQ(run.payload_bytes("gradient"), alone * kSteps * sizes.trained * element_bytes);
  EXPECT_EQ(run.payload_bytes("statistics"), alone * kSteps * 8 * replicas * sizes.statistics);
  EXPECT_EQ(run.payload_bytes("metric"), 0u);
  EXPECT_EQ(run.payload_bytes("control"), 0u);
  // What other replicas read of the first one's memory.
  EXPECT_EQ(run.wire_bytes("parameter"), (replicas - 1) * kSteps * sizes.parameters * element_bytes);
  EXPECT_EQ(run.wire_bytes("input"), alone * kSteps * others * sizes.input * element_bytes);
  EXPECT_EQ(run.wire_bytes("output"), alone * kSteps * 2 * others * sizes.output * element_bytes);
}

std::string common(int workers, int batch) {
  return " --data digits --train-samples 400 --threads 1 --validate-every 0 --strategy dp --steps " +
         std::to_string(kSteps) + " --workers " + std::to_string(workers) + " --global-batch " +
         std::to_string(batch) + " ";
}

constexpr Sizes kLenet5 = {61706, 61706, 0, 784, 10};
constexpr Sizes kVit = {5322, 5322, 0, 784, 10};

TEST(DpLedger, IsTheFormulaForEveryNumberOfReplicas) {
  const TrainStore store;
  for (const int workers : {1, 2, 3, 4}) {
    const TrainRun run = store.train("--model lenet5" + common(workers, 26));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto replicas = static_cast<std::uint64_t>(workers);
    expect_formula(run, kLenet5, {26, (26 + replicas - 1) / replicas}, replicas, false, 4);
  }
}

TEST(DpLedger, IsTheFormulaInOtherPrecisionsAndModels) {
  const TrainStore store;
  const TrainRun f64 = store.train("--model vit --precision f64 --threaded-scatter" + common(3, 20));
  ASSERT_EQ(f64.exit_code, 0) << f64.err;
  expect_formula(f64, kVit, {20, 7}, 3, true, 8);
  const TrainRun frozen = store.train("--model lenet5 --trainable head" + common(2, 9));
  ASSERT_EQ(frozen.exit_code, 0) << frozen.err;
  Sizes sizes = kLenet5;
  sizes.trained = 84 * 10 + 10;
  expect_formula(frozen, sizes, {9, 5}, 2, false, 4);
}

// resnet18-cifar with 4 channels at its narrowest: batch norms of 4, 8, 16 and 32 channels.
TEST(DpLedger, CountsBuffersAndStatistics) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--model resnet18-cifar --model-options width=4 --image-size 16 --buffers sync --keep-originals" +
      common(3, 12));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // The stem and four in the first stage; in each other stage four, and one in the shortcut.
  std::uint64_t norms = 0, channels = 0;
  for (const std::uint64_t width : {4, 8, 16, 32}) {
    const std::uint64_t here = 5;
    norms += here;
    channels += here * width;
  }
  EXPECT_EQ(run.payload_bytes("buffer"), kSteps * (2 * channels * 4 + norms * 8));
  EXPECT_EQ(run.payload_bytes("statistics"), kSteps * 3 * 8 * (4 * channels + norms));
}

TEST(DpLedger, SwitchesChangeMessagesAndNotWhatIsMoved) {
  const TrainStore store;
  const std::string flags = "--model lenet5 --piece-bytes 100K" + common(3, 24);
  const TrainRun plain = store.train(flags);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  // lenet5 has 10 tensors. The first linear layer's weight (192,000 bytes) makes a piece by itself; what is
  // before it makes one, and what follows another.
  constexpr std::uint64_t kTensors = 10, kPieces = 3;
  EXPECT_EQ(messages_of(plain, "parameter", "broadcast"), kSteps * kTensors * 2);
  EXPECT_EQ(messages_of(plain, "input", "send"), kSteps * (2 + 1));  // and one from the loader
  EXPECT_EQ(messages_of(plain, "output", "send"), kSteps * 2);

  const TrainRun broadcast = store.train(flags + "--coalesced-broadcast");
  ASSERT_EQ(broadcast.exit_code, 0) << broadcast.err;
  EXPECT_EQ(messages_of(broadcast, "parameter", "broadcast"), kSteps * kPieces * 2);
  EXPECT_EQ(messages_of(broadcast, "gradient", "reduce"), messages_of(plain, "gradient", "reduce"));

  const TrainRun scatter = store.train(flags + "--threaded-scatter");
  ASSERT_EQ(scatter.exit_code, 0) << scatter.err;
  EXPECT_EQ(messages_of(scatter, "input", "scatter"), kSteps * 2);
  EXPECT_EQ(messages_of(scatter, "input", "send"), kSteps);
  EXPECT_EQ(messages_of(scatter, "output", "send"), 0u);
  EXPECT_EQ(scatter.wire_bytes("input"), plain.wire_bytes("input"));

  const TrainRun reduction = store.train(flags + "--coalesced-reduction");
  ASSERT_EQ(reduction.exit_code, 0) << reduction.err;
  EXPECT_LT(messages_of(reduction, "gradient", "reduce"), messages_of(plain, "gradient", "reduce"));
  EXPECT_EQ(reduction.payload_bytes("gradient"), plain.payload_bytes("gradient"));

  const TrainRun originals = store.train(flags + "--keep-originals");
  ASSERT_EQ(originals.exit_code, 0) << originals.err;
  EXPECT_EQ(originals.payload_bytes("parameter"), plain.payload_bytes("parameter"));
  for (const TrainRun* run : {&broadcast, &scatter, &reduction, &originals})
    EXPECT_EQ(run->losses(), plain.losses());
}

// Replicas are made anew for every batch of a validation too.
TEST(DpLedger, CountsWhatEvaluationReplicates) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --data digits --train-samples 40 --val-samples 30 --global-batch 10 --epochs 1 "
      "--threads 1 "
      "--strategy dp --workers 2 ";
  const TrainRun with = store.train(flags);
  const TrainRun without = store.train(flags + "--validate-every 0");
  ASSERT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(without.payload_bytes("parameter"), 4u * 61706 * 4);
  EXPECT_EQ(with.payload_bytes("parameter") - without.payload_bytes("parameter"), 3u * 61706 * 4);
  EXPECT_EQ(with.payload_bytes("input") - without.payload_bytes("input"), 3u * 5 * 784 * 4);
  EXPECT_EQ(with.payload_bytes("output") - without.payload_bytes("output"), 3u * 10 * 10 * 4);
}

}  // namespace
}  // namespace lockstep::testing
