// The peak of a worker's memory, by use.
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr std::uint64_t kParameterBytes = 61706 * 4;

nlohmann::json memory_of(const TrainStore& store, const std::string& flags) {
  const TrainRun run = store.train(
      "--model lenet5 --data digits --train-samples 400 --threads 1 --steps 4 --validate-every 0 --momentum "
      "0.9 " +
      flags);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.record.at("memory");
}

std::uint64_t sum_of(const nlohmann::json& by_use) {
  std::uint64_t sum = 0;
  for (const auto& [use, bytes] : by_use.items()) sum += bytes.get<std::uint64_t>();
  return sum;
}

TEST(MemoryByUse, OfOneWorkerHasGradientsAndNoBuckets) {
  const TrainStore store;
  const nlohmann::json memory = memory_of(store, "--workers 1");
  const nlohmann::json& by_use = memory.at("by_use");
  EXPECT_EQ(sum_of(by_use), memory.at("peak_bytes"));
  EXPECT_EQ(by_use.at("parameters"), kParameterBytes);
  EXPECT_EQ(by_use.at("optimizer"), kParameterBytes);
  EXPECT_GT(by_use.at("gradients"), 0u);
  EXPECT_LE(by_use.at("gradients"), kParameterBytes);
  EXPECT_EQ(by_use.at("buckets"), 0u);
  EXPECT_GT(by_use.at("activations"), 0u);
  EXPECT_GT(by_use.at("other"), 32u * 784 * 4);  // the loader's batches
}

TEST(MemoryByUse, OfSeveralWorkersHasBucketsForAllGradients) {
  const TrainStore store;
  const nlohmann::json memory = memory_of(store, "--workers 2");
  const nlohmann::json& by_use = memory.at("by_use");
  EXPECT_EQ(sum_of(by_use), memory.at("peak_bytes"));
  EXPECT_EQ(by_use.at("buckets"), kParameterBytes);
  EXPECT_EQ(by_use.at("optimizer"), kParameterBytes);
}

TEST(MemoryByUse, CountsBatchNormStatisticsThatMoveAsCommunication) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--model resnet18-cifar --model-options width=8 --data digits --train-samples 200 --image-size 16 "
      "--threads 1 "
      "--steps 3 --validate-every 0 --workers 2 --buffers broadcast");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GT(run.record.at("memory").at("by_use").at("communication"), 0u);
}

}  // namespace
}  // namespace lockstep::testing
