#include "lockstep/lab/study_parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_settings.h"

namespace lockstep::lab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kGood = R"(name: try
title: A try
question: Is it so?
base:
  model: lenet5
  data: digits
axes:
  workers: [1, 2]
  rate:
    fixed: {learning_rate_scaling: none}
    linear: {learning_rate_scaling: linear, warmup_epochs: 1}
exclude:
  - {workers: 1, rate: linear}
repeats: {min: 2, max: 5}
interval: 5%
warmup: 3
budget: 10m
targets: {train_loss: 0.04}
tables: [summary]
charts: [speedup]
quick:
  cut: 64 samples instead of all
  base: {train_samples: 64}
  repeats: 1
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text, const StudyChoice& choice = {}) {
  try {
    (void)parse_study(text, "try.yaml", choice);
  } catch (const base::ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

std::vector<std::string> names(const Study& study) {
  std::vector<std::string> all;
  for (const Cell& cell : cells_of(study)) all.push_back(cell.name);
  return all;
}

TEST(StudyParse, cells_are_the_product_of_the_axes_without_what_is_excluded) {
  const Study study = parse_study(kGood, "try.yaml");
  EXPECT_THAT(names(study),
              ElementsAre("workers=1,rate=fixed", "workers=2,rate=fixed", "workers=2,rate=linear"));
  const Cell last = cells_of(study).back();
  EXPECT_EQ(last.spec.workers, 2);
  EXPECT_EQ(last.spec.learning_rate_scaling, "linear");
  EXPECT_EQ(last.spec.warmup_epochs, 1);
  EXPECT_EQ(last.spec.skip_steps, 3);
  EXPECT_EQ(last.at("rate"), "linear");
  EXPECT_EQ(study.repeats.most, 5);
  EXPECT_EQ(study.interval->relative, 0.05);
  EXPECT_EQ(study.id(), "try");
}

TEST(StudyParse, the_quick_variant_is_a_study_of_its_own_that_says_what_it_cut) {
  const Study quick = parse_study(kGood, "try.yaml", {true, {}});
  EXPECT_EQ(quick.id(), "try-quick");
  EXPECT_EQ(quick.cut, "64 samples instead of all");
  EXPECT_EQ(quick.base.train_samples, 64);
  EXPECT_EQ(quick.repeats.most, 1);
  EXPECT_THAT(names(quick), SizeIs(3));
}

TEST(StudyParse, a_stand_in_does_not_overrule_what_is_set_by_hand) {
  const std::string text =
      with("  repeats: 1\n",
           "  repeats: 1\n  stand_ins: {model: {lenet5: {device_memory: 64MiB, batch_size: 4}}}\n");
  const Study plain = parse_study(text, "try.yaml", {true, {}});
  EXPECT_EQ(cells_of(plain).front().spec.device_memory->count, 64u << 20);
  const Study set = parse_study(text, "try.yaml", {true, {{"device_memory", "1GiB", kSetPlace}}});
  EXPECT_EQ(cells_of(set).front().spec.device_memory->count, 1u << 30);
  EXPECT_EQ(cells_of(set).front().spec.batch_size, 4);
}

TEST(StudyParse, set_changes_a_field_of_the_base_the_values_of_an_axis_or_the_repeats) {
  const Study study = parse_study(
      kGood, "try.yaml",
      {false, {{"model", "vit", kSetPlace}, {"workers", "2,4", kSetPlace}, {"repeats", "7", kSetPlace}}});
  EXPECT_EQ(study.base.model, "vit");
  EXPECT_THAT(names(study), ElementsAre("workers=2,rate=fixed", "workers=2,rate=linear",
                                        "workers=4,rate=fixed", "workers=4,rate=linear"));
  EXPECT_EQ(study.repeats.least, 7);
}

TEST(StudyParse, a_mistake_in_set_is_one_of_usage_and_a_mistake_in_the_file_is_not) {
  const std::pair<FieldSetting, const char*> mistakes[] = {
      {{"foo", "1", kSetPlace}, "--set: there is no field 'foo'"},
      {{"rate", "liner", kSetPlace}, "Did you mean 'linear'?"},
      {{"workers", "1,few", kSetPlace}, "--set: workers is 'few'"},
      {{"repeats", "many", kSetPlace}, "--set: 'many' is not a number"},
      {{"batch_size", "-4", kSetPlace}, "--set: batch_size is '-4'"},
  };
  for (const auto& [setting, expected] : mistakes) {
    try {
      (void)parse_study(kGood, "try.yaml", {false, {setting}});
      ADD_FAILURE() << setting.field << "=" << setting.text;
    } catch (const base::UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  }
  EXPECT_THAT(complaint(with("lenet5", "lenet6"), {false, {{"workers", "2", kSetPlace}}}),
              StartsWith("try.yaml:5:10: "));
}

TEST(StudyParse, a_typo_is_refused_with_its_line_and_what_was_meant) {
  EXPECT_THAT(complaint(with("repeats:", "repeat:")),
              AllOf(StartsWith("try.yaml:14:1: "), HasSubstr("Did you mean 'repeats'?")));
  EXPECT_THAT(complaint(with("  model:", "  modle:")),
              AllOf(StartsWith("try.yaml:5:3: "), HasSubstr("Did you mean 'model'?")));
  EXPECT_THAT(complaint(with("workers: [1", "worker: [1")),
              AllOf(StartsWith("try.yaml:8:3: "), HasSubstr("Did you mean 'workers'?")));
  EXPECT_THAT(complaint(with("[summary]", "[sumary]")),
              AllOf(StartsWith("try.yaml:19:10: "), HasSubstr("Did you mean 'summary'?")));
  EXPECT_THAT(complaint(with("{workers: 1, rate: linear}", "{workers: 1, rate: liner}")),
              AllOf(StartsWith("try.yaml:13:24: "), HasSubstr("Did you mean 'linear'?")));
}

TEST(StudyParse, a_ladder_of_a_figure_that_cannot_gain_is_refused_with_its_line_and_those_that_can) {
  const auto ladder = [](const std::string& figure) {
    return complaint(with("warmup: 3", "ladder: {axis: workers, figure: " + figure + "}"));
  };
  EXPECT_THAT(ladder("wire_byte"),
              AllOf(StartsWith("try.yaml:16:33: "), HasSubstr("Did you mean 'wire_bytes'?")));
  EXPECT_THAT(ladder("payload_bytes"),
              AllOf(StartsWith("try.yaml:16:33: "), HasSubstr("neither more nor less of it is better"),
                    HasSubstr("It can by: step_seconds, samples_per_second")));
  EXPECT_EQ(ladder("step_seconds"), "no complaint");
}

TEST(StudyParse, an_unknown_model_is_refused_with_its_line_and_a_suggestion) {
  EXPECT_THAT(complaint(with("lenet5", "lenet6")),
              AllOf(StartsWith("try.yaml:5:10: "), HasSubstr("'lenet5'")));
}

TEST(StudyParse, a_negative_batch_is_refused_with_its_line) {
  EXPECT_THAT(complaint(with("data: digits", "batch_size: -4")), StartsWith("try.yaml:6:15: "));
  EXPECT_THAT(complaint(with("  rate:", "  batch_size: [1, -4]\n  rate:")), StartsWith("try.yaml:9:19: "));
}

TEST(StudyParse, a_name_that_leads_out_of_the_store_is_refused) {
  for (const char* name : {"../../victim", "/etc", ".hidden", "-flag", "a/b", "two words"})
    EXPECT_THAT(complaint(with("name: ", std::string("name: \"") + name + "\" # ")),
                HasSubstr("cannot be the name"));
}

TEST(StudyParse, grids_and_repeats_that_nobody_could_wait_for_are_refused) {
  std::string seeds;
  for (int i = 0; i < 20'000; ++i) seeds += (i == 0 ? "" : ", ") + std::to_string(i);
  EXPECT_THAT(complaint(with("  rate:", "  seed: [" + seeds + "]\n  rate:")), HasSubstr("span 80000 cells"));
  EXPECT_THAT(complaint(with("repeats: ", "repeats: 1000000 # ")), HasSubstr("more than the 1000"));
}

TEST(StudyParse, a_tab_is_refused_with_its_line) {
  EXPECT_THAT(complaint(with("  model", "\tmodel")), AllOf(StartsWith("try.yaml:5:1: "), HasSubstr("tab")));
}

TEST(StudyParse, the_quick_variant_may_not_change_what_is_compared) {
  EXPECT_THAT(complaint(with("{train_samples: 64}", "{strategy: ddp}")),
              AllOf(StartsWith("try.yaml:23:20: "), HasSubstr("never what is compared")));
}

TEST(StudyParse, a_repeat_may_draw_from_a_seed_of_its_own) {
  const Cell cell = cells_of(parse_study(with("warmup: 3", "vary_seed: true"), "try.yaml")).front();
  EXPECT_EQ(cell.spec_of(3).seed, cell.spec.seed + 2);
  EXPECT_NE(cell.hash_of(3), cell.hash_of(1));
  EXPECT_EQ(cell.hash_of(1), cell.hash);
}

}  // namespace
}  // namespace lockstep::lab
