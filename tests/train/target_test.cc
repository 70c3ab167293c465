#include "lockstep/train/target.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::train {
namespace {

using record::Task;

EpochMetrics trained_to(double loss) {
  return {Metrics{4, 4 * loss, 0, 0, Task::any}, std::nullopt};
}

EpochMetrics validated(const Metrics& validation) {
  return {Metrics{4, 0, 0, 0, validation.task}, validation};
}

TEST(Target, ALossMustBeBelow) {
  record::RunSpec spec;
  spec.target_loss = 0.25;
  EXPECT_TRUE(Target(spec).reached(trained_to(0.2), 1, 1));
  EXPECT_FALSE(Target(spec).reached(trained_to(0.25), 1, 1));
}

TEST(Target, WhatIsNotANumberReachesNothing) {
  record::RunSpec spec;
  spec.target_loss = 0.25;
  EXPECT_FALSE(Target(spec).reached(trained_to(std::nan("")), 1, 1));
  spec.target_loss.reset();
  spec.target_psnr = 20;
  EXPECT_FALSE(Target(spec).reached(validated({4, 0, 0, std::nan(""), Task::restoration}), 1, 1));
}

TEST(Target, AccuracyAndPsnrMustBeAtLeast) {
  record::RunSpec spec;
  spec.target_accuracy = 0.75;
  EXPECT_TRUE(Target(spec).reached(validated({4, 0, 3, 0, Task::classification}), 1, 1));
  EXPECT_FALSE(Target(spec).reached(validated({4, 0, 2, 0, Task::classification}), 1, 1));
  spec.target_accuracy.reset();
  spec.target_psnr = 26;
  EXPECT_TRUE(Target(spec).reached(validated({2, 0, 0, 52, Task::restoration}), 1, 1));
  EXPECT_FALSE(Target(spec).reached(validated({2, 0, 0, 51, Task::restoration}), 1, 1));
}

TEST(Target, TheValidationLossIsNotTheTrainingLoss) {
  record::RunSpec spec;
  spec.target_val_loss = 0.5;
  EXPECT_FALSE(Target(spec).reached(trained_to(0.1), 1, 1));
  EXPECT_TRUE(Target(spec).reached(validated({2, 0.5, 0, 0, Task::any}), 1, 1));
}

TEST(Target, AnEpochWithoutValidationDoesNotReachIt) {
  record::RunSpec spec;
  spec.target_accuracy = 0;
  EXPECT_FALSE(Target(spec).reached(trained_to(0), 1, 1));
}

TEST(Target, EpochsAndSecondsAreNotedWhenItIsReached) {
  record::RunSpec spec;
  spec.target_loss = 0.5;
  Target target(spec);
  EXPECT_FALSE(target.reached(trained_to(0.9), 1, 10));
  EXPECT_FALSE(target.figures()->epochs);
  EXPECT_TRUE(target.reached(trained_to(0.4), 2, 20));
  EXPECT_EQ(*target.figures(), (record::TargetFigures{"loss", 0.5, 2.0, 20.0}));
}

TEST(Target, WithoutOneNothingIsReached) {
  Target target{record::RunSpec{}};
  EXPECT_FALSE(target.asked_for());
  EXPECT_FALSE(target.reached(trained_to(-1), 1, 1));
}

}  // namespace
}  // namespace lockstep::train
