// Which one worker a cell may be held against: one whose spec is equal in all that a step depends on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/record/spec_fields.h"
#include "lockstep/report/model/scaling.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::IsSupersetOf;

// Whether one worker is the baseline of two, whose specs have these fields besides.
bool is_baseline(const nlohmann::json& one, const nlohmann::json& two) {
  std::vector<record::RunRecord> records = {made_run({}), made_run({.workers = 2})};
  records[0].spec.update(one);
  records[1].spec.update(two);
  const Grid grid = make_grid(nullptr, {}, std::move(records));
  return !scaling_families(grid).empty();
}

TEST(Baselines, WhatOneSpecSetsAndTheOtherDoesNotDiffers) {
  const nlohmann::json none = nlohmann::json::object();
  for (const nlohmann::json& set : std::initializer_list<nlohmann::json>{
           {{"slice_share", 0.125}}, {{"clip_norm", 1.0}}, {{"train_samples", 2048}}}) {
    EXPECT_FALSE(is_baseline(none, set)) << set;
    EXPECT_FALSE(is_baseline(set, none)) << set;
    EXPECT_TRUE(is_baseline(set, set)) << set;
  }
  EXPECT_TRUE(is_baseline(none, {{"clip_norm", nullptr}}));
}

TEST(Baselines, AFieldThatAnOlderRecordLacksHadItsDefault) {
  const nlohmann::json older = nlohmann::json::object();
  EXPECT_TRUE(is_baseline(older, {{"memory_order", "auto"}, {"accumulate", 1}}));
  EXPECT_TRUE(is_baseline({{"memory_order", "auto"}, {"accumulate", 1}}, older));
  EXPECT_FALSE(is_baseline(older, {{"memory_order", "channels-last"}}));
  EXPECT_FALSE(is_baseline({{"accumulate", 4}}, older));
}

TEST(Baselines, AFieldThatThisVersionDoesNotKnowDiffersWhereBothHaveIt) {
  EXPECT_TRUE(is_baseline(nlohmann::json::object(), {{"of_tomorrow", 1}}));
  EXPECT_FALSE(is_baseline({{"of_tomorrow", 2}}, {{"of_tomorrow", 1}}));
}

TEST(Baselines, WhatChangesNoStepMayDiffer) {
  const nlohmann::json none = nlohmann::json::object();
  EXPECT_TRUE(is_baseline(none, {{"target_val_loss", 0.04}, {"local_steps", 8}, {"stall_shutdown", 90.0}}));
  EXPECT_TRUE(is_baseline({{"max_time", 60.0}, {"val_samples", 512}}, none));
}

TEST(Baselines, EveryFieldThatMayDifferIsOneOfTheSpec) {
  EXPECT_THAT(record::spec_field_names(), IsSupersetOf(beside_the_work()));
  // How long a run goes on, and what waits and where files lie (but not how batches are prepared).
  std::set<std::string> names;
  for (const record::Field& field : record::spec_fields())
    if (field.group == record::FieldGroup::limits ||
        (!field.rule.identity() && field.name != "loader_threads" && field.name != "prefetch"))
      names.insert(field.name);
  EXPECT_THAT(beside_the_work(), IsSupersetOf(names));
}

}  // namespace
}  // namespace lockstep::report
