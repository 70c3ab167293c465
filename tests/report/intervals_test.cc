// Intervals as wide as the noise makes them, in tables, charts and words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lockstep/report/charts/charts.h"
#include "lockstep/report/formats/formats.h"
#include "lockstep/report/svg/draw.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Two repeats of one worker, of which one is ten times as fast: Student's t reaches 0.
std::vector<record::RunRecord> noisy_baseline() {
  std::vector<record::RunRecord> records = {made_run({}), made_run({.speed_factor = 10, .repeat = 2})};
  add(records, repeated({.workers = 2}, 0.01));
  return records;
}

TEST(Intervals, AQuotientWhoseDivisorReachesNothingHasNoUpperEnd) {
  const auto speedup = quotient({10, base::Interval{8, 12}, 3}, {5, base::Interval{0, 50}, 3});
  ASSERT_TRUE(speedup && speedup->interval);
  EXPECT_DOUBLE_EQ(speedup->interval->low, 0.16);
  EXPECT_TRUE(std::isinf(speedup->interval->high));
  EXPECT_EQ(display(*speedup, {}, false), "2 [0.16, unbounded]");
  EXPECT_EQ(with_unit(*speedup->interval, ""), "[0.16, unbounded]");
}

TEST(Intervals, WideOnesHaveTwoDigitsAndNarrowOnesFour) {
  EXPECT_EQ(display({4000, base::Interval{0, 51006}, 2}, {}, false), "4,000 [0, 51,000]");
  EXPECT_EQ(display({4000, base::Interval{3987, 4012}, 2}, {}, false), "4,000 [3,987, 4,012]");
  EXPECT_EQ(display({2.083, base::Interval{2.068, 6.1}, 2}, {}, false), "2.083 [2.068, 6.1]");
}

TEST(Intervals, TheSpeedupKeepsItsOwnInTableAndChart) {
  const Grid grid = make_grid(nullptr, {}, noisy_baseline());
  const auto table = make_table("scaling", {grid});
  ASSERT_TRUE(table);
  EXPECT_THAT(csv_of(*table), HasSubstr(",infinity,"));
  const auto charts = make_charts("speedup", {grid});
  ASSERT_FALSE(charts.empty());
  EXPECT_THAT(charts[0].note, HasSubstr("An arrow"));
  const std::string svg = draw(charts[0], {"c", true});
  EXPECT_THAT(svg, HasSubstr("data-high=\"infinity\""));
  EXPECT_EQ(svg.find("inf\""), std::string::npos);  // no coordinate is
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Intervals, ARunThatIsNotFiniteLeavesNoneAndNoVerdict) {
  std::vector<record::RunRecord> records = repeated({.workers = 2}, 0.01);
  add(records, repeated({.workers = 2, .strategy = "localsgd"}, 0.01));
  for (const double loss : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    records.back().epochs.back().train_loss = loss;
    const Grid grid = make_grid(nullptr, {}, records);
    EXPECT_FALSE(figure(grid.cells[1], "train_loss")->interval);
    EXPECT_EQ(clearly_differ(*figure(grid.cells[0], "train_loss"), *figure(grid.cells[1], "train_loss")),
              std::nullopt);
    EXPECT_THAT(text_of_finding(report_of(records), "axis-strategy-train_loss"),
                AllOf(HasSubstr("no verdict (not every run's figure is finite) with localsgd"),
                      Not(HasSubstr("noise"))));
  }
}

TEST(Display, AccuraciesAreShownInPercentAndWrittenAsShares) {
  record::RunRecord run = made_run({});
  run.epochs.back().val_accuracy = 0.8739;
  const Grid grid = make_grid(nullptr, {}, {run});
  const auto table = make_table("quality", {grid});
  ASSERT_TRUE(table);
  for (std::size_t column = 0; column < table->columns.size(); ++column) {
    if (table->columns[column].key != "val_accuracy") continue;
    EXPECT_EQ(table->heading_of(column), "val accuracy, %");
    EXPECT_EQ(table->text_of(0, column), "87.39");
  }
  EXPECT_THAT(csv_of(*table), HasSubstr("0.8739"));
}

}  // namespace
}  // namespace lockstep::report
