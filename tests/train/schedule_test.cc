#include "lockstep/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

record::RunSpec spec_with(const std::string& schedule) {
  record::RunSpec spec;
  spec.learning_rate = 0.1;
  spec.schedule = schedule;
  return spec;
}

TEST(Schedule, ConstantNeverChanges) {
  const Schedule schedule(spec_with("constant"), 100, 0);
  for (const std::uint64_t step : {0, 1, 99, 100, 1000000}) EXPECT_EQ(schedule.learning_rate(step), 0.1);
}

TEST(Schedule, StepFallsAtWholeMultiplesOfItsEpochs) {
  record::RunSpec spec = spec_with("step");
  spec.schedule_epochs = 3;
  spec.schedule_factor = 0.5;
  const Schedule schedule(spec, 10, 0);
  EXPECT_EQ(schedule.learning_rate(0), 0.1);
  EXPECT_EQ(schedule.learning_rate(29), 0.1);
  EXPECT_EQ(schedule.learning_rate(30), 0.05);
  EXPECT_EQ(schedule.learning_rate(59), 0.05);
  EXPECT_EQ(schedule.learning_rate(60), 0.025);
}

TEST(Schedule, CosineFallsToZeroOverTheRun) {
  const Schedule schedule(spec_with("cosine"), 10, 100);
  EXPECT_EQ(schedule.learning_rate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(25), 0.05 * (1 + std::numbers::sqrt2 / 2));
  EXPECT_DOUBLE_EQ(schedule.learning_rate(50), 0.05);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(99), 0.05 * (1 + std::cos(std::numbers::pi * 0.99)));
  EXPECT_EQ(schedule.learning_rate(100), 0);
  EXPECT_EQ(schedule.learning_rate(1000), 0);
}

TEST(Schedule, CosineWithoutAKnownLengthIsRefused) {
  EXPECT_THROW(Schedule(spec_with("cosine"), 10, 0), base::ConfigError);
}

TEST(Schedule, LinearScalingMultipliesByTheGlobalBatchOverOneWorkersShare) {
  record::RunSpec spec = spec_with("constant");
  spec.learning_rate_scaling = "linear";
  spec.workers = 4;
  spec.batch_size = 32;
  EXPECT_DOUBLE_EQ(Schedule(spec, 10, 0).full_rate(), 0.4);
  spec.batch_size.reset();
  spec.global_batch = 64;
  EXPECT_DOUBLE_EQ(Schedule(spec, 10, 0).full_rate(), 0.4);
}

TEST(Schedule, LinearScalingTakesTheBatchTheRateWasChosenFor) {
  record::RunSpec spec = spec_with("constant");
  spec.learning_rate_scaling = "linear";
  spec.workers = 4;
  spec.batch_size = 32;
  spec.scaling_batch = 256;
  EXPECT_DOUBLE_EQ(Schedule(spec, 10, 0).full_rate(), 0.05);
}

record::RunSpec warm_spec(const std::string& schedule, double epochs) {
  record::RunSpec spec = spec_with(schedule);
  spec.learning_rate_scaling = "linear";
  spec.workers = 4;
  spec.batch_size = 32;
  spec.warmup_epochs = epochs;
  return spec;
}

TEST(Schedule, WarmUpRisesFromOneWorkersRateToTheFullOne) {
  const Schedule schedule(warm_spec("constant", 2), 10, 0);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(5), 0.175);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(10), 0.25);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(19), 0.1 + 0.3 * 19 / 20);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(20), 0.4);
}

TEST(Schedule, WarmUpTakesFractionsOfAnEpoch) {
  const Schedule schedule(warm_spec("constant", 0.25), 16, 0);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 0.175);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(3), 0.325);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(4), 0.4);
}

TEST(Schedule, CosineBeginsWhereWarmUpEnds) {
  const Schedule schedule(warm_spec("cosine", 2), 10, 120);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(20), 0.4);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(70), 0.2);
  EXPECT_EQ(schedule.learning_rate(120), 0);
}

TEST(Schedule, StepCountsEpochsFromTheStartOfTheRun) {
  record::RunSpec spec = warm_spec("step", 2);
  spec.schedule_epochs = 3;
  const Schedule schedule(spec, 10, 0);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(29), 0.4);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(30), 0.04);
}

TEST(Schedule, AWarmUpLongerThanTheRunNeverGetsThere) {
  const Schedule schedule(warm_spec("cosine", 20), 10, 100);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(99), 0.1 + 0.3 * 99 / 200);
}

TEST(Schedule, AnEpochWithoutStepsIsRefused) {
  EXPECT_THROW(Schedule(spec_with("constant"), 0, 0), base::ConfigError);
}

}  // namespace
}  // namespace lockstep::train
