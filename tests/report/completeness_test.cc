// The first line of a report: how much of what its study planned the records hold.
#include "lockstep/report/model/completeness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/lab/study_cells.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::HasSubstr;

// Six cells, of which each is planned twice.
lab::Study twice_study() {
  lab::Study study = published_study();
  study.repeats = {2, 2};
  return study;
}

// `repeats` runs of every cell.
std::vector<record::RunRecord> runs_of(const lab::Study& study, int repeats) {
  std::vector<record::RunRecord> records;
  for (const lab::Cell& cell : lab::cells_of(study))
    for (int repeat = 1; repeat <= repeats; ++repeat) {
      MadeRun run{.workers = static_cast<int>(cell.spec.workers), .batch = *cell.spec.batch_size};
      run.repeat = repeat;
      records.push_back(made_run(run));
      records.back().study = study.id();
      records.back().cell = cell.name;
    }
  return records;
}

TEST(FirstLine, SaysThatNothingWasCutOnlyWhereEveryPlannedRunEndedWell) {
  const lab::Study study = twice_study();
  std::vector<record::RunRecord> records = runs_of(study, 2);
  EXPECT_EQ(report_of(records, &study).first_line, "The whole study, 12 runs; nothing was cut.");
  records.pop_back();
  EXPECT_EQ(report_of(records, &study).first_line, "Unfinished: 11 of 12 planned runs ended well.");
  records.resize(1);
  EXPECT_EQ(report_of(records, &study).first_line, "Unfinished: 1 of 12 planned runs ended well.");
}

TEST(FirstLine, CountsRunsThatFailedApartFromThoseInterrupted) {
  const lab::Study study = twice_study();
  std::vector<record::RunRecord> records = runs_of(study, 2);
  records.back().status = "interrupted";
  EXPECT_EQ(report_of(records, &study).first_line,
            "Unfinished: 11 of 12 planned runs ended well, 1 was interrupted.");
  records[records.size() - 2].status = "failed";
  EXPECT_EQ(report_of(records, &study).first_line,
            "Unfinished: 10 of 12 planned runs ended well, 1 failed, 1 was interrupted.");
}

TEST(FirstLine, SaysSoOfAQuickVariantToo) {
  lab::Study study = twice_study();
  study.cut = "64 samples instead of all";
  EXPECT_EQ(report_of(runs_of(study, 1), &study).first_line,
            "Unfinished quick variant: 6 of 12 planned runs ended well. Cut: 64 samples instead of all");
  EXPECT_EQ(report_of(runs_of(study, 2), &study).first_line,
            "Quick variant, 12 runs. Cut: 64 samples instead of all");
}

TEST(FirstLine, ACellWhoseIntervalIsNarrowEnoughIsFinished) {
  lab::Study study = twice_study();
  study.repeats = {2, 5};
  EXPECT_THAT(report_of(runs_of(study, 2), &study).first_line, HasSubstr("Unfinished: 12 of 18"));
  study.interval = lab::IntervalGoal{};  // the runs are equal
  EXPECT_THAT(report_of(runs_of(study, 2), &study).first_line, HasSubstr("nothing was cut"));
}

TEST(FirstLine, OutOfMemoryIsAnAnswer) {
  const lab::Study study = twice_study();
  std::vector<record::RunRecord> records = runs_of(study, 2);
  records.pop_back();
  records.back().status = "out_of_memory";
  EXPECT_EQ(report_of(records, &study).first_line, "The whole study, 11 runs; nothing was cut.");
}

TEST(FirstLine, NamesCellsThatCannotRun) {
  const lab::Study study = twice_study();
  std::vector<record::RunRecord> records = runs_of(study, 2);
  const std::string missing = *records.back().cell;
  records.resize(records.size() - 2);
  const auto line = [&](bool cannot_run) {
    return build_report({&study, {{missing, "it needs GPUs", cannot_run}}, records}, {}).first_line;
  };
  EXPECT_EQ(line(true), "The whole study, 10 runs; 1 of 6 cells cannot run on this machine.");
  EXPECT_THAT(line(false), HasSubstr("Unfinished: 10 of 12"));
}

TEST(FirstLine, NamesCellsWhoseBudgetWasTooSmallForTheirRepeats) {
  lab::Study study = twice_study();
  study.cell_budget = base::Nanoseconds(1);
  std::vector<record::RunRecord> records = runs_of(study, 1);
  for (record::RunRecord& record : records) record.wall_seconds.total = 2;
  EXPECT_EQ(report_of(records, &study).first_line,
            "The whole study, 6 runs; 6 of 6 cells had too little budget for 2 repeats.");
}

TEST(FirstLine, ClaimsNothingOfAPlanThatIsNotKnown) {
  EXPECT_EQ(report_of({made_run({})}).first_line, "A report of 1 run.");
}

TEST(Report, OfAStudyWithoutRecordsNamesTheFileToRun) {
  lab::Study study = published_study();
  const auto complaint = [&] {
    try {
      (void)report_of({}, &study);
    } catch (const base::ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint(), HasSubstr("Run it: lockstep study made-scaling.yaml"));
  study.file_name.clear();
  EXPECT_THAT(complaint(), HasSubstr("Run it: lockstep study FILE"));
}

}  // namespace
}  // namespace lockstep::report
