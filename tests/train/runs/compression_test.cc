// Gradients sent as 16-bit floats: half the bytes, nearly the same losses, equal replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program_run.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

std::string flags_for(const std::string& strategy, int workers, const std::string& more) {
  return "--model lenet5 --threads 1 --steps 30 --global-batch 30 --learning-rate 0.02 --validate-every 0 "
         "--check-every 1 --overlap off --strategy " +
         strategy + " --workers " + std::to_string(workers) + " " + more;
}

class CompressionOf : public ::testing::TestWithParam<std::string> {};

// Tolerances: two roundings of a gradient (11 and 8 bits), which is what 30 steps make of them here. Horovod
// fuses what is ready together, which is not the same twice, and the parts of three workers are rounded to
// elements: so it sends each gradient by itself here.
TEST_P(CompressionOf, HalvesTheGradientsBytesExactlyAndStaysCloseToTheLossCurve) {
  const TrainStore store;
  for (const std::string backend : {"shm", "gloo"}) {
    for (const int workers : {2, 3}) {
      const std::string plain = flags_for(GetParam(), workers, "--fusion-bytes 1 --backend " + backend);
      const TrainRun whole = store.train(plain);
      ASSERT_EQ(whole.exit_code, 0) << whole.err;
      for (const auto& [type, tolerance] : {std::pair{"f16", 2e-3}, std::pair{"bf16", 1.6e-2}}) {
        const TrainRun half = store.train(plain + " --compression " + type);
        ASSERT_EQ(half.exit_code, 0) << half.err;
        EXPECT_EQ(2 * half.payload_bytes("gradient"), whole.payload_bytes("gradient"));
        EXPECT_EQ(2 * half.wire_bytes("gradient"), whole.wire_bytes("gradient")) << backend << workers;
        EXPECT_EQ(half.payload_bytes("metric"), whole.payload_bytes("metric"));
        EXPECT_LE(largest_difference(whole.losses(), half.losses()), tolerance) << type;
        EXPECT_GT(largest_difference(whole.losses(), half.losses()), 0) << type << ": it was not rounded";
      }
    }
  }
}

TEST_P(CompressionOf, WorksWithOverlapSmallBucketsAccumulationAndUnevenBatches) {
  const TrainStore store;
  const std::string flags =
      "--model lenet5 --train-samples 100 --global-batch 16 --epochs 2 --threads 1 --workers 3 --overlap on "
      "--accumulate 2 --validate-every 0 --check-every 1 --first-bucket-bytes 4K --bucket-bytes 64K "
      "--fusion-bytes 64K --strategy " +
      GetParam();
  const TrainRun whole = store.train(flags);
  const TrainRun half = store.train(flags + " --compression f16");
  ASSERT_EQ(half.exit_code, 0) << half.err;
  EXPECT_EQ(2 * half.payload_bytes("gradient"), whole.payload_bytes("gradient"));
  EXPECT_LE(largest_difference(whole.losses(), half.losses()), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Strategies, CompressionOf, ::testing::Values("ddp", "horovod"),
                         [](const auto& strategy) { return strategy.param; });

TEST(Compression, ItsSavingIsInTheSummary) {
  const TrainStore store;
  const ProgramRun run = run_shell(program() +
                                   " train --model lenet5 --data digits --steps 3 --workers 2 --threads 1 "
                                   "--validate-every 0 --compression bf16 --progress none --store '" +
                                   store.path().string() + "'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("as bf16: 370,236 B of payload, 740,472 B of wire saved"));
}

TEST(Compression, IsRefusedWhereThereIsNothingToSaveOrToSend) {
  const TrainStore store;
  const TrainRun exact = store.train("--data digits --workers 2 --compression f16 --precision f64");
  EXPECT_EQ(exact.exit_code, 3);
  EXPECT_THAT(exact.err, HasSubstr("precision f64 is for exact comparisons"));
  const TrainRun alone = store.train("--data digits --workers 1 --compression f16");
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.err, HasSubstr("strategy single does not compress gradients"));
}

}  // namespace
}  // namespace lockstep::testing
