// Workers on one machine's cores: N of them are N times the hardware only if each has as many threads as the
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/scaling.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

record::RunRecord with_threads(MadeRun made, int threads) {
  made.cores = 2;
  record::RunRecord run = made_run(made);
  run.spec["threads"] = nullptr;
  run.threads = threads;
  return run;
}

// One worker with both cores against two with one each; the second's speed as a multiple of the first's.
std::vector<record::RunRecord> same_cores(double speedup) {
  MadeRun two{.workers = 2};
  two.exposed = 0.010;
  two.forward = 0.020;
  two.backward = 0.040;
  const record::RunRecord one = with_threads({}, 2);
  record::RunRecord many = with_threads(two, 1);
  many.steps.samples_per_second = speedup * *one.steps.samples_per_second;
  return {one, many};
}

TEST(Threads, TheIdealIsTheHardwareThatTheWorkersHave) {
  const Grid grid = make_grid(nullptr, {}, same_cores(0.8));
  const auto families = scaling_families(grid);
  ASSERT_EQ(families.size(), 1U);
  EXPECT_DOUBLE_EQ(families[0].steps[1].ideal, 1);
  EXPECT_DOUBLE_EQ(families[0].steps[1].efficiency->value, 0.8);
  EXPECT_FALSE(has_equal_threads(families[0]));
  const Grid equal = make_grid(nullptr, {}, {with_threads({}, 1), with_threads({.workers = 2}, 1)});
  EXPECT_DOUBLE_EQ(scaling_families(equal)[0].steps[1].ideal, 2);
}

TEST(Slices, AreNotCalledSeparateGpus) {
  record::RunRecord one = made_run({}), two = made_run({.workers = 2});
  EXPECT_THAT(findings(report_of({one, two})), Not(Contains("slices")));
  one.spec["slice_share"] = two.spec["slice_share"] = 0.25;
  const Report report = report_of({one, two});
  EXPECT_THAT(text_of_finding(report, "slices"),
              AllOf(HasSubstr("not separate GPUs"), HasSubstr("memory bandwidth")));
}

TEST(Threads, ThatTheHardwareIsTheSameIsSaidBeforeAnythingIsBlamed) {
  const Report report = report_of(same_cores(0.8));
  EXPECT_THAT(text_of_finding(report, "slower"), HasSubstr("80 % of the ideal 1"));
  EXPECT_THAT(
      text_of_finding(report, "threads"),
      HasSubstr("One worker already had 2 threads, one for every core; 2 workers have 1 thread each, 2 in "
                "all: the same hardware, so that the most to expect is about 1, not 2."));
  EXPECT_THAT(findings(report), Not(Contains("grew-exposed_comm")));
  EXPECT_THAT(findings(report), Not(Contains("grew-backward")));
  EXPECT_THAT(text_of_finding(report, "grew-threads"), HasSubstr("with 1 thread a worker instead of 2"));
}

TEST(Threads, MoreThanThatIdealTellsOfIdleThreadsNotOfCaches) {
  std::vector<record::RunRecord> records;
  for (const double noise : {0.99, 1.0, 1.01})
    for (record::RunRecord record : same_cores(1.3)) {
      *record.steps.samples_per_second *= noise;
      record.repeat = static_cast<std::int64_t>(records.size() / 2 + 1);
      records.push_back(std::move(record));
    }
  const Report report = report_of(std::move(records));
  EXPECT_THAT(text_of_finding(report, "threads-idle"),
              AllOf(HasSubstr("perhaps because one does not keep all of them busy"),
                    HasSubstr("which was not measured")));
  EXPECT_THAT(findings(report), Not(Contains("suspect-efficiency")));
}

TEST(Threads, OfSingleRunsBeyondTheIdealNoReasonIsNamed) {
  const Report report = report_of(same_cores(1.3));
  EXPECT_THAT(findings(report), Not(Contains("threads-idle")));
  EXPECT_THAT(text_of_finding(report, "threads-exceeded"), HasSubstr("without repeats it cannot be told"));
}

TEST(Threads, TableAndChartSayWhichIdealTheyUse) {
  const Grid grid = make_grid(nullptr, {}, same_cores(0.8));
  EXPECT_THAT(make_table("scaling", {grid})->note, HasSubstr("The ideal counts threads"));
  const auto charts = make_charts("speedup", {grid});
  ASSERT_FALSE(charts.empty());
  EXPECT_THAT(charts[0].note, HasSubstr("The ideal counts threads"));
  EXPECT_EQ(charts[0].series.back().points.back().y, 1);
  const Grid equal = make_grid(nullptr, {}, {made_run({}), made_run({.workers = 2})});
  EXPECT_THAT(make_charts("speedup", {equal})[0].note, HasSubstr("The ideal is the number of workers."));
}

TEST(Threads, FamiliesOfUnequalThreadsAreNotProjected) {
  std::vector<record::RunRecord> records;
  for (const int workers : {1, 2, 4}) {
    records.push_back(made_run({.workers = workers, .cores = 4}));
    records.back().threads = 4 / workers;
  }
  const Report report = report_of(std::move(records));
  EXPECT_THAT(findings(report), Not(Contains("projection")));
  EXPECT_THAT(text_of_finding(report, "no-projection"),
              HasSubstr("not all workers had equally many threads"));
}

TEST(Threads, RecordedOnesDecideWhetherCoresAreLeft) {
  std::vector<record::RunRecord> records = repeated({.cores = 8}, 0.01);
  add(records, repeated({.workers = 4, .cores = 8}, 0.01));
  for (record::RunRecord& record : records) record.threads = 2;
  EXPECT_THAT(text_of_finding(report_of(std::move(records)), "all-well"),
              HasSubstr("All cores of this machine are in use"));
}

}  // namespace
}  // namespace lockstep::report
