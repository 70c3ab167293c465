#include "lockstep/train/stop_rule.h"

#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

TEST(StopRule, WithoutALimitARunHasOneEpoch) {
  const record::RunSpec spec;
  const StopRule rule(spec);
  EXPECT_EQ(rule.total_steps(100), 100);
  EXPECT_FALSE(rule.done(99, 0));
  EXPECT_TRUE(rule.done(100, 1));
}

TEST(StopRule, StepsEndARunInsideAnEpochAndBeyondIt) {
  record::RunSpec spec;
  spec.steps = 250;
  const StopRule rule(spec);
  EXPECT_EQ(rule.total_steps(100), 250);
  EXPECT_FALSE(rule.done(249, 2));
  EXPECT_TRUE(rule.done(250, 2));
}

TEST(StopRule, TheFirstLimitReachedCounts) {
  record::RunSpec spec;
  spec.epochs = 2;
  spec.steps = 250;
  const StopRule rule(spec);
  EXPECT_EQ(rule.total_steps(100), 200);
  EXPECT_TRUE(rule.done(200, 2));
  spec.steps = 50;
  EXPECT_EQ(rule.total_steps(100), 50);
  EXPECT_TRUE(rule.done(50, 0));
}

TEST(StopRule, WithATimeOrATargetAloneTheNumberOfStepsIsNotKnown) {
  record::RunSpec timed, aimed;
  timed.max_time = record::Seconds{60};
  aimed.target_accuracy = 0.9;
  for (const record::RunSpec& spec : {timed, aimed}) {
    EXPECT_FALSE(StopRule(spec).total_steps(100));
    EXPECT_FALSE(StopRule(spec).done(1000000, 10000));
  }
}

}  // namespace
}  // namespace lockstep::train
