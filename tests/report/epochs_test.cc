// Runs that a limit stopped inside an epoch, and what may be said of their quality.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/last_epoch.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Its last epoch is unfinished and, as such are, not validated.
record::RunRecord stopped(const MadeRun& made) {
  record::RunRecord run = made_run(made);
  record::EpochFigures& last = run.epochs.back();
  last.unfinished = true;
  last.val_loss.reset();
  last.val_accuracy.reset();
  return run;
}

std::optional<Number> at(const Table& table, const std::string& key) {
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    if (table.columns[column].key == key) return table.rows.front()[column].number;
  return std::nullopt;
}

TEST(Epochs, QualityIsThatOfTheLastFinishedOne) {
  const Grid grid = make_grid(nullptr, {}, {stopped({.losses = {0.9, 0.5, 0.7}})});
  const auto table = make_table("quality", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(at(*table, "train_epoch")->value, 2);
  EXPECT_EQ(at(*table, "train_loss")->value, 0.5);
  EXPECT_DOUBLE_EQ(at(*table, "val_loss")->value, 0.5 * 1.1);
  EXPECT_EQ(table->rows[0].back().text, "stopped inside epoch 3: quality is of the epochs before");
}

TEST(Epochs, TheOneBehindAFigureIsTheOneThatTheFigureIsOf) {
  const Grid grid =
      make_grid(nullptr, {}, {stopped({.losses = {0.9, 0.5, 0.7}}), stopped({.batch = 64, .losses = {0.8}})});
  for (const GridCell& cell : grid.cells)
    for (const char* name : {"train_loss", "val_loss", "val_accuracy"}) {
      const record::EpochFigures* epoch = epoch_behind(cell.runs.front(), epoch_value(name));
      const auto number = figure(cell, name);
      ASSERT_EQ(epoch != nullptr, number.has_value()) << name;
      if (number) {
        EXPECT_EQ((*epoch).*epoch_value(name), number->value) << name;
      }
    }
  EXPECT_EQ(epoch_field(grid.cells[0], "train_loss"), "epochs[1].train_loss");
}

TEST(Epochs, AComparisonSaysThatEpochsWereNotFinishedOrNotEquallyMany) {
  const auto told = [](std::vector<record::RunRecord> records) {
    return text_of_finding(report_of(std::move(records)), "axis-strategy-train_loss");
  };
  EXPECT_THAT(told({stopped({.workers = 2, .losses = {2.2}}),
                    stopped({.workers = 2, .strategy = "localsgd", .losses = {2.25}})}),
              HasSubstr("Final training loss (of unfinished epochs)"));
  EXPECT_THAT(told({made_run({.workers = 2, .losses = {0.9}}),
                    made_run({.workers = 2, .strategy = "localsgd", .losses = {0.9, 0.5}})}),
              HasSubstr("Final training loss (after 1 to 2 epochs)"));
  EXPECT_THAT(told({stopped({.workers = 2, .losses = {2.2}}),
                    stopped({.workers = 2, .strategy = "localsgd", .losses = {2.2, 1.5, 1.4}})}),
              AllOf(HasSubstr("Final training loss (after a part of an epoch to 2 epochs)"),
                    HasSubstr("better with localsgd, though not after equally many epochs")));
  EXPECT_THAT(told({made_run({.workers = 2}), made_run({.workers = 2, .strategy = "localsgd"})}),
              Not(HasSubstr("epochs)")));
}

TEST(Epochs, ChartsSayThatTheirLastPointIsOfAPart) {
  const Grid grid = make_grid(nullptr, {}, {stopped({.losses = {0.9, 0.5, 0.7}})});
  const auto charts = make_charts("loss-by-epoch", {grid});
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_THAT(charts[0].note, HasSubstr("of the part that it did (1 cell)."));
  EXPECT_EQ(charts[1].note, "");  // validation
}

TEST(Epochs, AValidationThatTheLastOneLacksIsNoDivergence) {
  const Report report =
      report_of({stopped({.losses = {2.3, 1.9, 1.8, 1.7}, .val_losses = {2.4, 59, 2.2, 0}})});
  EXPECT_THAT(findings(report), Contains("unstable"));
  EXPECT_THAT(findings(report), Not(Contains("divergence")));
}

TEST(Epochs, ASingleOneIsOneRowOfAveraging) {
  const Grid grid =
      make_grid(nullptr, {}, {made_run({.workers = 2, .losses = {0.8}, .own_loss_factor = 1.5})});
  const auto table = make_table("averaging", {grid});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 1U);
}

TEST(Epochs, AFewStepsOfTheFirstOneHaveHardlyBegunToLearn) {
  record::RunRecord run = stopped({.losses = {2.282}});
  run.epochs.back().train_accuracy = 0.136;
  run.steps.count = 120;
  const Report report = report_of({run});
  EXPECT_THAT(
      text_of_finding(report, "hardly-learnt"),
      HasSubstr("has hardly begun to learn after 120 steps: its loss of 2.282 is near that of guessing "
                "(2.303); its accuracy is 14 %, that of guessing 10 %"));
  EXPECT_THAT(findings(report), Not(Contains("did-not-learn")));
}

TEST(Epochs, ACellThatLearntNothingIsNotCalledBetter) {
  std::vector<record::RunRecord> records = {made_run({.losses = {2.4, 2.34}}),
                                            made_run({.batch = 64, .losses = {2.4, 2.29}})};
  const auto told = [&] { return text_of_finding(report_of(records), "axis-batch_size-train_loss"); };
  for (record::RunRecord& run : records) run.epochs.back().val_accuracy = 0.1;
  EXPECT_THAT(told(), AllOf(Not(HasSubstr("better")), HasSubstr("no verdict (nothing learnt)")));
  records.back().epochs.back().val_accuracy = 0.2;
  EXPECT_THAT(told(), HasSubstr("better with batch 64 per worker"));
}

TEST(Epochs, AnAccuracyAboveGuessingIsSomethingLearnt) {
  record::RunRecord run = made_run({.losses = {2.29, 2.285}});
  run.epochs.back().val_accuracy = 0.2;
  EXPECT_THAT(findings(report_of({run})), Contains("hardly-learnt"));
  run.epochs.back().val_accuracy = 0.1;
  EXPECT_THAT(findings(report_of({run})), Contains("did-not-learn"));
}

}  // namespace
}  // namespace lockstep::report
