// Runs that went on from a checkpoint: their records begin with a later epoch, maybe inside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/targets.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

// Of epochs 5, 6, ...
record::RunRecord resumed(const MadeRun& made) {
  record::RunRecord run = made_run(made);
  for (record::EpochFigures& epoch : run.epochs) epoch.epoch += 4;
  run.spec["resume"] = "runs/earlier";
  return run;
}

std::vector<Evidence> rests_of(const Report& report, const std::string& finding) {
  for (const Paragraph& paragraph : report.words)
    for (const Sentence& sentence : paragraph.sentences)
      if (sentence.finding == finding) return sentence.rests_on;
  return {};
}

TEST(Resumed, ChartsPutEpochsWhereTheyAreInTheTraining) {
  const Grid grid = make_grid(nullptr, {}, {resumed({.losses = {0.5, 0.3}})});
  const Chart chart = make_charts("loss-by-epoch", {grid}).at(0);
  EXPECT_THAT(chart.series.at(0).points, ElementsAre(Field(&ChartPoint::x, 5), Field(&ChartPoint::x, 6)));
  EXPECT_THAT(make_charts("loss-by-second", {grid}).at(0).note, HasSubstr("since it was resumed"));
  const Grid whole = make_grid(nullptr, {}, {made_run({})});
  EXPECT_THAT(make_charts("loss-by-second", {whole}).at(0).note, Not(HasSubstr("resumed")));
}

TEST(Resumed, AnEpochsRepeatsAreThoseOfTheSameEpoch) {
  record::RunRecord late = resumed({.losses = {0.1}, .repeat = 2});
  late.spec.erase("resume");
  const Grid grid = make_grid(nullptr, {}, {made_run({.losses = {0.9, 0.7, 0.5, 0.4, 0.3}}), late});
  const Chart chart = make_charts("loss-by-epoch", {grid}).at(0);
  ASSERT_EQ(chart.series.at(0).points.size(), 5U);
  EXPECT_EQ(chart.series[0].points[0].y, 0.9);
  EXPECT_DOUBLE_EQ(chart.series[0].points[4].y, 0.2);
}

TEST(Resumed, SecondsUntilATargetCountTheTrainingBeforeOrAreNotKnown) {
  const lab::Target target{"val_loss", 0.4};
  record::RunRecord run = resumed({.losses = {0.5, 0.3}, .val_losses = {0.6, 0.35}});
  ASSERT_TRUE(reached(run, target));
  EXPECT_EQ(reached(run, target)->epochs, 6);
  EXPECT_EQ(reached(run, target)->seconds, std::nullopt);
  run.target = record::TargetFigures{"val_loss", 0.4, 6.0, 123.0};
  EXPECT_EQ(reached(run, target)->seconds, 123.0);
  EXPECT_EQ(reached(run, {"val_loss", 0.61})->seconds, std::nullopt);  // another target than the run's
  EXPECT_THAT(text_of_finding(report_of({run}), "target"), HasSubstr("after 6 epochs and 123 s of training"));
  const record::RunRecord whole = made_run({.losses = {0.5, 0.3}, .val_losses = {0.6, 0.35}});
  EXPECT_DOUBLE_EQ(*reached(whole, target)->seconds, 2 * whole.epochs[0].seconds);
}

TEST(Resumed, StepsOfAnEpochAreNotTakenFromAPartOfOne) {
  const Grid grid = make_grid(nullptr, {}, {made_run({}), resumed({.workers = 2})});
  EXPECT_EQ(steps_per_epoch(grid.cells[0])->value, 128);
  EXPECT_FALSE(steps_per_epoch(grid.cells[1]));
}

TEST(Resumed, EvidenceNamesPlacesInTheRecordAndWordsNameEpochsOfTheTraining) {
  const Report burst = report_of({resumed({.losses = {0.5, 8.0, 0.4}})});
  EXPECT_THAT(text_of_finding(burst, "unstable"),
              AllOf(HasSubstr("reached 8.8 in epoch 6, where epoch 5 had 0.5"), Not(HasSubstr("began"))));
  EXPECT_THAT(rests_of(burst, "unstable"), Contains(Field(&Evidence::field, "epochs[1].val_loss")));
  EXPECT_THAT(rests_of(burst, "unstable"), Contains(Field(&Evidence::field, "epochs[2].val_loss")));
  EXPECT_THAT(text_of_finding(report_of({resumed({.losses = {0.5, 0.9}})}), "divergence"),
              HasSubstr("its loss rose from 0.5 after epoch 5 to 0.9"));
  const Report averaged = report_of({resumed({.workers = 2, .losses = {0.5, 0.3}, .own_loss_factor = 1.5})});
  EXPECT_THAT(text_of_finding(averaged, "averaging-helps"), HasSubstr("of epoch 6"));
  EXPECT_THAT(rests_of(averaged, "averaging-helps"), Contains(Field(&Evidence::field, "epochs[1].val_loss")));
}

TEST(Resumed, AWarmUpThatEndedBeforeItIsNotCalledTheWholeRun) {
  record::RunRecord run = resumed({.workers = 8, .losses = {0.5, 0.9}, .scaling = "linear"});
  run.spec["warmup_epochs"] = 2.0;
  EXPECT_THAT(text_of_finding(report_of({run}), "try-learning-rate"), HasSubstr("a longer warm-up"));
}

}  // namespace
}  // namespace lockstep::report
