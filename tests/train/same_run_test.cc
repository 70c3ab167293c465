#include "lockstep/train/same_run.h"

#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

std::string difference_of(const record::RunSpec& here, const record::RunSpec& there) {
  return differences(lasting_fields(here), lasting_fields(there), "there");
}

TEST(SameRun, LimitsAndPlacesMayDiffer) {
  const record::RunSpec longer = record::spec_from_json(
      {{"epochs", 10}, {"target_loss", 0.04}, {"data_dir", "elsewhere"}, {"resume", "runs/7"}}, "test");
  EXPECT_EQ(difference_of(longer, {}), "");
}

TEST(SameRun, WhatDiffersIsNamedWithBothValues) {
  record::RunSpec here;
  here.learning_rate = 0.5;
  here.clip_norm = 1.0;
  EXPECT_EQ(difference_of(here, {}),
            "clip_norm is 1 here and unset there; learning_rate is 0.5 here and 0.01 there");
}

TEST(SameRun, TheEndOfACosineIsPartOfIt) {
  record::RunSpec here, there;
  here.schedule = there.schedule = "cosine";
  here.epochs = 10;
  there.epochs = 5;
  EXPECT_EQ(difference_of(here, there), "epochs is 10 here and 5 there");
}

}  // namespace
}  // namespace lockstep::train
