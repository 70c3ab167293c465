#include "lockstep/train/target.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::train {
namespace {

record::EpochFigures epoch_with(std::optional<double> record::EpochFigures::*figure, double value) {
  record::EpochFigures epoch;
  epoch.*figure = value;
  return epoch;
}

using record::EpochFigures;

TEST(Target, ALossMustBeBelow) {
  record::RunSpec spec;
  spec.target_loss = 0.04;
  const Target target(spec);
  EXPECT_TRUE(target.reached_by(epoch_with(&EpochFigures::train_loss, 0.039)));
  EXPECT_FALSE(target.reached_by(epoch_with(&EpochFigures::train_loss, 0.04)));
  EXPECT_FALSE(target.reached_by(epoch_with(&EpochFigures::val_loss, 0.01)));
  EXPECT_FALSE(target.reached_by(epoch_with(&EpochFigures::train_loss, std::nan(""))));
}

TEST(Target, AccuracyAndPsnrMustBeAtLeast) {
  record::RunSpec spec;
  spec.target_accuracy = 0.9;
  EXPECT_TRUE(Target(spec).reached_by(epoch_with(&EpochFigures::val_accuracy, 0.9)));
  EXPECT_FALSE(Target(spec).reached_by(epoch_with(&EpochFigures::val_accuracy, 0.899)));
  spec.target_accuracy.reset();
  spec.target_psnr = 26;
  EXPECT_TRUE(Target(spec).reached_by(epoch_with(&EpochFigures::val_psnr, 26)));
  EXPECT_FALSE(Target(spec).reached_by(epoch_with(&EpochFigures::val_psnr, std::nan(""))));
}

TEST(Target, TheValidationLossIsAnotherOne) {
  record::RunSpec spec;
  spec.target_val_loss = 0.5;
  EXPECT_TRUE(Target(spec).reached_by(epoch_with(&EpochFigures::val_loss, 0.4)));
  EXPECT_FALSE(Target(spec).reached_by(epoch_with(&EpochFigures::train_loss, 0.4)));
}

TEST(Target, AnEpochWithoutValidationDoesNotReachIt) {
  record::RunSpec spec;
  spec.target_accuracy = 0.1;
  EXPECT_FALSE(Target(spec).reached_by(EpochFigures{}));
}

TEST(Target, RemembersWhenItWasReachedFirst) {
  record::RunSpec spec;
  spec.target_loss = 0.5;
  Target target(spec);
  EXPECT_FALSE(target.note(epoch_with(&EpochFigures::train_loss, 0.9), 1, 10));
  EXPECT_TRUE(target.note(epoch_with(&EpochFigures::train_loss, 0.4), 2, 20));
  EXPECT_TRUE(target.note(epoch_with(&EpochFigures::train_loss, 0.3), 3, 30));
  EXPECT_EQ(*target.figures(), (record::TargetFigures{"train_loss", 0.5, 2.0, 20.0}));
}

TEST(Target, WithoutOneNothingIsReached) {
  Target target{record::RunSpec{}};
  EXPECT_FALSE(target.note(epoch_with(&EpochFigures::train_loss, -1), 1, 1));
  EXPECT_FALSE(target.figures());
}

TEST(Target, AResumedRunKnowsThatItWasReachedUnlessItHasAnotherOne) {
  record::RunSpec spec;
  spec.target_loss = 0.5;
  Target target(spec), other(spec);
  target.restore(record::TargetFigures{"train_loss", 0.5, 2.0, 20.0});
  EXPECT_TRUE(target.note(EpochFigures{}, 3, 30));
  other.restore(record::TargetFigures{"train_loss", 0.7, 2.0, 20.0});
  EXPECT_FALSE(other.note(EpochFigures{}, 3, 30));
}

}  // namespace
}  // namespace lockstep::train
