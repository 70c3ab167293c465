// "It does not fit": a worker's memory against the formulas, and the answers that make a run fit under a cap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Eight equal convolutions on images of 28 x 28, and a head for 10 classes.
constexpr std::uint64_t kWidth = 32, kDepth = 8, kBatch = 32, kPixels = 28 * 28, kFloat = 4;
constexpr std::uint64_t kLayerBytes = (kWidth * kWidth * 9 + kWidth) * kFloat;
constexpr std::uint64_t kParameterBytes =
    (kDepth - 1) * kLayerBytes + (kWidth * 9 + kWidth + kWidth * 10 + 10) * kFloat;
constexpr std::uint64_t kMapBytes = kWidth * kPixels * kFloat;  // of one sample
constexpr std::uint64_t kBatchesAhead = 5;

// What forward keeps is the output of every convolution; backward holds three more while it passes the last.
constexpr std::uint64_t kPassing = 3;
constexpr std::uint64_t activations(std::uint64_t rows) {
  return (kDepth + kPassing) * kMapBytes * rows;
}
constexpr std::uint64_t loader(std::uint64_t rows) {
  return kBatchesAhead * rows * kPixels * kFloat;
}

std::string flags(const std::string& strategy, std::uint64_t workers, std::uint64_t batch,
                  const std::string& more = "") {
  return "--model deepwide --model-options width=32,depth=8 --data digits --train-samples 128 --steps 4 "
         "--validate-every 0 --augment none --threads 1 --optimizer adam --strategy " +
         strategy + " --workers " + std::to_string(workers) + " --batch-size " + std::to_string(batch) + " " +
         more;
}

std::uint64_t use(const TrainRun& run, const std::string& name) {
  return run.record.at("memory").at("by_use").at(name).get<std::uint64_t>();
}
std::uint64_t peak(const TrainRun& run) {
  return run.record.at("memory").at("peak_bytes").get<std::uint64_t>();
}
// Everything that is there once for every parameter.
std::uint64_t model_state(const TrainRun& run) {
  return use(run, "parameters") + use(run, "gradients") + use(run, "buckets") + use(run, "optimizer");
}

void expect_within_five_percent(std::uint64_t measured, std::uint64_t formula, const std::string& what) {
  EXPECT_GE(static_cast<double>(measured), 0.95 * static_cast<double>(formula)) << what;
  EXPECT_LE(static_cast<double>(measured), 1.05 * static_cast<double>(formula)) << what;
}

// Of 8 layers recomputing saves a fifth, of 32 more than half: it is named where it helps, and then it does.
TEST(FittingIntoMemory, RecomputingIsNamedAsACureWhereItFits) {
  const TrainStore store;
  const std::string deep =
      "--model deepwide --model-options width=32,depth=32 --data digits --train-samples 128 --steps 4 "
      "--validate-every 0 "
      "--augment none --threads 1 --strategy single --batch-size " +
      std::to_string(kBatch) + " ";
  const TrainRun free = store.train(deep);
  ASSERT_EQ(free.exit_code, 0) << free.err;
  const std::string cap = "--device-memory " + std::to_string(2 * peak(free) / 3);
  EXPECT_THAT(store.train(deep + cap).err, HasSubstr("--recompute"));
  EXPECT_EQ(store.train(deep + cap + " --recompute").exit_code, 0);
  const TrainRun shallow = store.train(flags("single", 1, kBatch));
  const std::string tight = "--device-memory " + std::to_string(2 * peak(shallow) / 3);
  EXPECT_THAT(store.train(flags("single", 1, kBatch, tight)).err, Not(HasSubstr("--recompute")));
  EXPECT_EQ(store.train(flags("single", 1, kBatch, tight + " --recompute")).exit_code, 1);
}

TEST(FittingIntoMemory, HalfTheBatchOnTwoWorkersFitsWhereOneWorkerDoesNot) {
  const TrainStore store;
  const TrainRun free = store.train(flags("single", 1, kBatch));
  ASSERT_EQ(free.exit_code, 0) << free.err;
  EXPECT_GE(10 * use(free, "activations"), 7 * peak(free));
  const std::string cap = "--device-memory " + std::to_string(2 * peak(free) / 3);

  const TrainRun alone = store.train(flags("single", 1, kBatch, cap));
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_EQ(alone.record.at("status"), "out_of_memory");
  EXPECT_THAT(alone.err,
              AllOf(HasSubstr("out of memory"), HasSubstr("A step needs at most about"),
                    HasSubstr("the cap is"), HasSubstr("--accumulate 2"), HasSubstr("--workers 2")));
  for (const auto& [strategy, more] : std::vector<std::pair<std::string, std::string>>{
           {"ddp", ""}, {"zero1", ""}, {"zero3", ""}, {"zero3", "--recompute"}}) {
    const TrainRun half = store.train(flags(strategy, 2, kBatch / 2, cap + " " + more));
    EXPECT_EQ(half.exit_code, 0) << strategy << " " << more << ": " << half.err;
  }
  for (const std::string more : {"--accumulate 2", "--recompute --accumulate 2"}) {
    const TrainRun helped = store.train(flags("single", 1, kBatch, cap + " " + more));
    EXPECT_EQ(helped.exit_code, 0) << more << ": " << helped.err;
  }
}

TEST(FittingIntoMemory, PeaksAreWhatTheFormulasSay) {
  const TrainStore store;
  const std::uint64_t p = kParameterBytes, batch = kBatch / 2;
  const std::uint64_t rest = activations(batch) + loader(batch);
  const TrainRun single = store.train(flags("single", 1, batch));
  const TrainRun ddp = store.train(flags("ddp", 2, batch));
  const TrainRun zero1 = store.train(flags("zero1", 2, batch));
  const TrainRun zero3 = store.train(flags("zero3", 2, batch, "--overlap on"));
  for (const TrainRun* run : {&single, &ddp, &zero1, &zero3}) ASSERT_EQ(run->exit_code, 0) << run->err;
  expect_within_five_percent(peak(single), p + p + 2 * p + rest, "single");
  expect_within_five_percent(peak(ddp), p + p + 2 * p + rest, "ddp");
  expect_within_five_percent(peak(zero1), p + p + 2 * p / 2 + rest, "zero1");
  expect_within_five_percent(peak(zero3), p / 2 + p / 2 + 2 * p / 2 + 4 * kLayerBytes + rest, "zero3");
  // The model's own state, in which activations hide nothing.
  expect_within_five_percent(model_state(ddp), p + p + 2 * p, "state of ddp");
  expect_within_five_percent(model_state(zero1), p + p + 2 * p / 2, "state of zero1");
  EXPECT_LE(model_state(zero3), p / 2 + p / 2 + 2 * p / 2 + 4 * kLayerBytes);
  EXPECT_LE(10 * model_state(zero3), 7 * model_state(ddp));
}

// The first replica of dp loads the batches of all, and has the parameters twice.
TEST(FittingIntoMemory, WhatARefusedStepNeedsIsWhatItTakesWhereItFits) {
  const TrainStore store;
  for (const std::string strategy : {"dp", "ddp"}) {
    const TrainRun fits = store.train(flags(strategy, 2, 48));
    ASSERT_EQ(fits.exit_code, 0) << fits.err;
    const std::string cap = std::to_string(peak(fits) * 7 / 10 / 1024) + "KiB";
    const TrainRun refused = store.train(flags(strategy, 2, 48, "--device-memory " + cap));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("A step needs at most about"));
    expect_within_five_percent(peak(fits), refused.record.at("failure").at("needed_bytes"), strategy);
  }
}

TEST(FittingIntoMemory, RecomputingKeepsTheBitsAndLowersActivations) {
  const TrainStore store;
  const TrainRun kept = store.train(flags("single", 1, kBatch));
  const TrainRun again = store.train(flags("single", 1, kBatch, "--recompute"));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(kept.losses(), again.losses());
  // Of 8 layers in segments of 3, 3 and 2: two inputs of segments, a segment and the gradient of its output,
  // and what backward passes.
  expect_within_five_percent(use(kept, "activations"), activations(kBatch), "kept");
  expect_within_five_percent(use(again, "activations"), (2 + 3 + 1 + kPassing) * kMapBytes * kBatch, "again");
}

}  // namespace
}  // namespace lockstep::testing
