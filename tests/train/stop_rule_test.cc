#include "lockstep/train/stop_rule.h"

#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(StopRule, WithoutALimitARunHasOneEpoch) {
  const StopRule rule(record::RunSpec{}, 100);
  EXPECT_EQ(rule.total_steps(), 100U);
  EXPECT_EQ(rule.reached(99, seconds(1)), "");
  EXPECT_EQ(rule.reached(100, seconds(1)), "epochs");
}

TEST(StopRule, StepsEndARunInsideAnEpochAndBeyondIt) {
  record::RunSpec spec;
  spec.steps = 250;
  const StopRule rule(spec, 100);
  EXPECT_EQ(rule.total_steps(), 250U);
  EXPECT_EQ(rule.reached(249, seconds(1)), "");
  EXPECT_EQ(rule.reached(250, seconds(1)), "steps");
}

TEST(StopRule, TheFirstLimitReachedCounts) {
  record::RunSpec spec;
  spec.epochs = 2;
  spec.steps = 250;
  spec.max_time = record::Seconds{60};
  const StopRule rule(spec, 100);
  EXPECT_EQ(rule.total_steps(), 200U);
  EXPECT_EQ(rule.reached(200, seconds(1)), "epochs");
  EXPECT_EQ(rule.reached(10, minutes(1)), "max_time");
  EXPECT_EQ(rule.reached(10, seconds(59)), "");
}

TEST(StopRule, WithTimeAloneTheNumberOfStepsIsNotKnown) {
  record::RunSpec spec;
  spec.max_time = record::Seconds{60};
  const StopRule rule(spec, 100);
  EXPECT_FALSE(rule.total_steps());
  EXPECT_EQ(rule.reached(1000000, seconds(59)), "");
}

TEST(StopRule, ATargetAloneIsALimitToo) {
  record::RunSpec spec;
  spec.target_accuracy = 0.9;
  const StopRule rule(spec, 100);
  EXPECT_FALSE(rule.total_steps());
  EXPECT_EQ(rule.reached(1000, seconds(1)), "");
}

}  // namespace
}  // namespace lockstep::train
