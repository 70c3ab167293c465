// Targets that not every run of a cell reached.
#include "lockstep/report/model/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/report/charts/charts.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Repeats of a cell of which so many end with a training loss below 0.4.
std::vector<record::RunRecord> repeats(int workers, int count, int good) {
  std::vector<record::RunRecord> records;
  for (int repeat = 1; repeat <= count; ++repeat) {
    records.push_back(
        made_run({.workers = workers, .losses = {0.9, 0.5, repeat <= good ? 0.3 : 0.45}, .repeat = repeat}));
    records.back().target = record::TargetFigures{"loss", 0.4, {}, {}};
  }
  return records;
}

Report report_on(std::vector<record::RunRecord> one, std::vector<record::RunRecord> two) {
  add(one, std::move(two));
  return report_of(std::move(one));
}

TEST(Targets, ACellReachedOneWhereAllItsRunsDid) {
  EXPECT_THAT(text_of_finding(report_on(repeats(1, 5, 5), repeats(2, 5, 5)), "target"),
              HasSubstr("2 of 2 cells reached train loss below 0.4; the first was 1 worker, after 3 epochs"));
  const Report report = report_on(repeats(1, 5, 1), repeats(2, 5, 5));
  EXPECT_THAT(
      text_of_finding(report, "target"),
      HasSubstr("1 of 2 cells reached train loss below 0.4 in all runs; the first was 2 workers, after 3"));
  EXPECT_THAT(text_of_finding(report, "target"), HasSubstr("; with 1 worker, 1 of 5 runs did."));
}

TEST(Targets, RunsThatReachedOneHereAndThereAreCountedAndNoCellIsFirst) {
  const Report report = report_on(repeats(1, 5, 1), repeats(2, 5, 4));
  EXPECT_THAT(findings(report), Not(Contains("target")));
  EXPECT_THAT(text_of_finding(report, "target-partly"),
              HasSubstr("No cell reached train loss below 0.4 in all of its runs; with 1 worker, 1 of 5 runs "
                        "did, and some in 1 more cell."));
  EXPECT_THAT(text_of_finding(report_on(repeats(1, 5, 0), repeats(2, 5, 0)), "target-missed"),
              HasSubstr("No cell reached train loss below 0.4 within its epochs."));
}

TEST(Targets, ABarOfSomeRunsSaysOfHowMany) {
  const auto note = [](int good) {
    const Grid grid = make_grid(nullptr, {}, repeats(1, 5, good));
    return make_charts("targets", {grid}).at(0).note;
  };
  EXPECT_THAT(note(2), HasSubstr("(2 of 5 runs)"));
  EXPECT_EQ(note(5), "");
}

}  // namespace
}  // namespace lockstep::report
