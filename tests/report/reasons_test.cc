// Reasons: which survive, which are held back, and of which cell they are said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_parse.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

lab::Study driving_study() {
  return lab::parse_study(R"(
name: made-driving
title: Driving
questions:
  - Does the whole job end sooner with more workers?
  - Why does the loss grow with workers, and what do the linear rule and warm-up do about it?
base: {model: lenet5, data: fashion-mnist, batch_size: 32}
axes:
  strategy: [horovod, localsgd]
  workers: [1, 2, 8]
  rate:
    fixed: {learning_rate_scaling: none}
    linear: {learning_rate_scaling: linear}
    linear with warm-up: {learning_rate_scaling: linear, warmup_epochs: 1}
exclude:
  - {workers: 1, rate: [linear, linear with warm-up], why: the rate of one worker is the rate}
tables: [summary]
)",
                          "made-driving.yaml");
}

// The linear rule diverges at eight workers, is unstable with warm-up, and all else learns.
std::vector<double> losses_of(const lab::Cell& cell) {
  const double workers = static_cast<double>(cell.spec.workers);
  if (workers < 8 || cell.at("rate") == "fixed") return {0.3 * workers, 0.1 * workers, 0.02 * workers};
  if (cell.at("rate") == "linear") return {0.5, 2.0, 9.0};
  return {0.5, 8.0, 0.4};
}

std::vector<record::RunRecord> driving_records() {
  std::vector<record::RunRecord> records;
  for (const lab::Cell& cell : lab::cells_of(driving_study())) {
    MadeRun run{.workers = static_cast<int>(cell.spec.workers), .strategy = cell.at("strategy")};
    run.losses = losses_of(cell);
    run.own_loss_factor = run.strategy == "localsgd" ? 1.5 : 0;
    run.scaling = cell.at("rate") == "fixed" ? "none" : "linear";
    records.push_back(with_wall(made_run(run), 0.1, 0.5, 2.4, 0.1, 3.1));
    records.back().spec["warmup_epochs"] = cell.at("rate") == "linear with warm-up" ? 1.0 : 0.0;
    records.back().study = "made-driving";
    records.back().cell = cell.name;
  }
  return records;
}

TEST(Reasons, WhoAsksWhyIsToldTheReasonBeforeTheComparisons) {
  const lab::Study study = driving_study();
  const Report report = report_of(driving_records(), &study);
  std::vector<std::string> found;
  for (const Sentence& sentence : report.words.at(1).sentences) found.push_back(sentence.finding);
  EXPECT_THAT(found, Contains("divergence"));
  EXPECT_THAT(found, Contains("fewer-updates"));
}

TEST(Reasons, AdviceNamesTheCellsItIsFor) {
  const lab::Study study = driving_study();
  const Report report = report_of(driving_records(), &study);
  EXPECT_THAT(text_of_finding(report, "try-warmup"),
              AllOf(HasSubstr("not warmed up with horovod, 8 workers, linear; localsgd, 8 workers, linear:"),
                    Not(HasSubstr("warm-up;"))));
  EXPECT_THAT(text_of_finding(report, "try-learning-rate"),
              HasSubstr("8 workers, linear with warm-up, which warmed up, try a smaller learning rate"));
}

TEST(Reasons, NoLongerWarmUpIsAdvisedThanTheWholeRun) {
  const auto told = [](double epochs) {
    record::RunRecord run = made_run({.workers = 8, .losses = {0.5, 0.9}, .scaling = "linear"});
    run.spec["warmup_epochs"] = epochs;
    return text_of_finding(report_of({run}), "try-learning-rate");
  };
  EXPECT_THAT(told(1), HasSubstr("a longer warm-up"));
  EXPECT_THAT(told(2), AllOf(HasSubstr("which warmed up all the time"), Not(HasSubstr("longer"))));
}

TEST(Reasons, WhatGrewIsLeftOutOfAJobWhoseDifferenceIsNoise) {
  std::vector<record::RunRecord> records;
  for (const int workers : {1, 2})
    for (int repeat = 1; repeat <= 3; ++repeat)
      records.push_back(with_wall(made_run({.workers = workers, .repeat = repeat}), 0.5 * workers, 0.5,
                                  2.0 * repeat, 0.25, 3.5 + 2.0 * repeat + 0.1 * workers));
  EXPECT_THAT(text_of_finding(report_of(std::move(records)), "job-noise"),
              AllOf(HasSubstr("smaller than the noise."), Not(HasSubstr("What grew"))));
}

TEST(Reasons, ARunWhoseValidationLossFellDidNotDiverge) {
  const auto told = [](const std::vector<double>& val_losses) {
    return report_of({made_run({.losses = {0.9, 0.8, 0.7}}),
                      made_run({.workers = 2, .losses = {0.5, 0.6, 0.7}, .val_losses = val_losses})});
  };
  const Report fell = told({0.9, 0.7, 0.6});
  EXPECT_THAT(findings(fell), Not(Contains("divergence")));
  EXPECT_THAT(text_of_finding(fell, "unstable"),
              HasSubstr("its loss rose from 0.5 after the first epoch to 0.7, while its validation loss fell "
                        "from 0.9 to 0.6"));
  EXPECT_THAT(findings(told({0.6, 0.7, 0.9})), Contains("divergence"));
  EXPECT_THAT(findings(told({4.9, 4.8, 4.7})), Contains("divergence"));
}

// Two batches, of which the larger is as many times as fast.
Report two_batches(double speed_factor, bool third = false) {
  std::vector<record::RunRecord> records = repeated({}, 0.01);
  MadeRun large{.batch = 128};
  large.speed_factor = speed_factor;
  add(records, repeated(large, 0.01));
  if (!third) return report_of(std::move(records));
  MadeRun largest{.batch = 512};
  largest.speed_factor = speed_factor / 4;
  add(records, repeated(largest, 0.01));
  return report_of(std::move(records));
}

TEST(Reasons, AGainBeyondTheBatchesOwnGrowthIsSuspectAndNoReason) {
  const Report report = two_batches(1.3);
  EXPECT_THAT(
      text_of_finding(report, "suspect-batch"),
      AllOf(HasSubstr("5.2 times the samples per second of 32"), HasSubstr("with 4 times the batch")));
  EXPECT_THAT(findings(report), Not(Contains("batch-too-small")));
  EXPECT_THAT(findings(report), Not(Contains("try-batch")));
  EXPECT_THAT(findings(two_batches(1)), Not(Contains("suspect-batch")));
}

TEST(Reasons, NoBatchBeyondTheKneeIsAdvised) {
  EXPECT_THAT(text_of_finding(two_batches(1), "try-batch"), HasSubstr("Try batch 128 per worker or more"));
  const Report report = two_batches(1, true);
  EXPECT_THAT(text_of_finding(report, "knee"), HasSubstr("The knee is batch 128"));
  EXPECT_THAT(text_of_finding(report, "try-batch"),
              AllOf(HasSubstr("Try batch 128 per worker, the knee"), Not(HasSubstr("or more"))));
}

// Two batches of that many times each other's speed, with that much noise.
Report noisy_batches(double times, double noise) {
  std::vector<record::RunRecord> records = repeated({}, noise);
  MadeRun large{.batch = 64};
  large.speed_factor = times / 2;  // a step of equal length would give twice the samples
  add(records, repeated(large, noise));
  return report_of(std::move(records));
}

TEST(Reasons, AKneeThatNoiseHidesIsNotClaimed) {
  for (const double times : {0.9, 1.02, 1.3}) {
    const std::vector<std::string> found = findings(noisy_batches(times, 0.4));
    EXPECT_THAT(found, Contains("knee-noise")) << times;
    EXPECT_THAT(found, Not(Contains("knee"))) << times;
    EXPECT_THAT(found, Not(Contains("no-knee"))) << times;
  }
  EXPECT_THAT(findings(noisy_batches(1.02, 0.002)), Contains("knee"));
  EXPECT_THAT(findings(noisy_batches(1.3, 0.002)), Contains("no-knee"));
}

TEST(Reasons, ALargerBatchThatLosesIsNotSaidToGain) {
  EXPECT_THAT(text_of_finding(noisy_batches(1.02, 0.002), "knee"), HasSubstr("gains less than 5.0 %"));
  EXPECT_THAT(text_of_finding(noisy_batches(0.88, 0.002), "knee"), HasSubstr("is 12 % slower"));
}

TEST(Reasons, AKneeIsCalledAsTheRowsAre) {
  std::vector<record::RunRecord> records = {made_run({.workers = 2}), made_run({.workers = 2, .batch = 64})};
  for (record::RunRecord& record : records) {
    record.spec["batch_size"] = nullptr;
    record.spec["global_batch"] = record.batch.global;
    record.steps.samples_per_second = 1000;
  }
  EXPECT_THAT(text_of_finding(report_of(std::move(records)), "knee"),
              HasSubstr("The knee is global batch 64:"));
}

TEST(Reasons, AHeavyTailIsNamedWhereMeanAndMedianDisagree) {
  record::RunRecord run = made_run({.workers = 2});
  EXPECT_THAT(findings(report_of({made_run({}), run})), Not(Contains("heavy-tail")));
  run.steps.seconds->median = run.steps.seconds->mean / 1.6;
  EXPECT_THAT(text_of_finding(report_of({made_run({}), run}), "heavy-tail"),
              AllOf(HasSubstr("With 2 workers"), HasSubstr("is 1.6 times the median")));
}

TEST(Reasons, FiguresOfWhichSomeWereRepeatedAreNotCalledOneRunEach) {
  std::vector<record::RunRecord> records = {made_run({})};
  MadeRun two{.workers = 2};
  records.push_back(made_run(two));
  EXPECT_THAT(text_of_finding(report_of(records), "faster"), HasSubstr("one run each"));
  two.repeat = 2;
  records.push_back(made_run(two));
  EXPECT_THAT(text_of_finding(report_of(records), "faster"),
              AllOf(HasSubstr("not everything was repeated"), Not(HasSubstr("one run each"))));
}

}  // namespace
}  // namespace lockstep::report
