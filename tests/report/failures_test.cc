// Cells that failed are part of the answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/text.h"
#include "lockstep/lab/study_cells.h"
#include "lockstep/lab/study_parse.h"
#include "lockstep/report/charts/charts.h"
#include "lockstep/report/formats/formats.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

record::RunRecord failed(const MadeRun& made, const std::string& message) {
  record::RunRecord run = made_run(made);
  run.status = "failed";
  run.epochs.clear();
  run.steps = {};
  run.failure = record::FailureFigures{1, "peer_lost", message};
  return run;
}

// One worker finished, two did not.
std::vector<record::RunRecord> half_failed(const lab::Study& study) {
  std::vector<record::RunRecord> records;
  for (const lab::Cell& cell : lab::cells_of(study)) {
    const int workers = static_cast<int>(cell.spec.workers);
    records.push_back(workers == 1 ? made_run({})
                                   : failed({.workers = 2}, "rank 1 is gone. Look at its log."));
    records.back().study = study.name;
    records.back().cell = cell.name;
  }
  return records;
}

lab::Study two_workers(const std::string& question) {
  return lab::parse_study("name: made-failing\ntitle: T\nquestion: " + question + R"(
base: {model: lenet5, data: fashion-mnist, strategy: ddp}
axes: {workers: [1, 2]}
tables: [summary]
)",
                          "made-failing.yaml");
}

TEST(Failures, AnswerTheQuestionThatTheyLeaveOpen) {
  const lab::Study study = two_workers("Are two workers faster than one?");
  const Report report = report_of(half_failed(study), &study);
  EXPECT_EQ(report.words.front().sentences.front().text,
            "With 2 workers no run finished (peer lost: rank 1 is gone).");
}

TEST(Failures, ThatAreInterruptionsAreCalledSoOnce) {
  record::RunRecord run = failed({.workers = 2}, "interrupted after step 94; a checkpoint is in DIR.");
  run.status = "interrupted";
  run.failure->kind = "interrupted";
  EXPECT_THAT(text_of_finding(report_of({made_run({}), run}), "failed"),
              HasSubstr("no run finished (interrupted after step 94"));
}

TEST(Failures, AreNamedWhereNothingElseCanBeSaid) {
  const lab::Study study = two_workers("Which bytes are sent on the wire?");
  std::vector<record::RunRecord> records = half_failed(study);
  for (record::RunRecord& record : records) record.ledger.clear();
  const Report report = report_of(std::move(records), &study);
  EXPECT_THAT(text_of_finding(report, "no-figures"), HasSubstr("no run finished with 2 workers (failed)"));
}

TEST(Failures, HaveALineEachBelowTheTable) {
  const Report report = report_of(
      {made_run({}), failed({.workers = 2}, "first. More."), failed({.workers = 4}, "second. More.")});
  const Table& summary = report.tables.front();
  EXPECT_THAT(base::split(summary.note, '\n'), SizeIs(3));
  EXPECT_THAT(terminal_of(report, {}),
              HasSubstr("\n  2 workers: first. More.\n  4 workers: second. More.\n"));
  EXPECT_THAT(markdown_of(report, {}), HasSubstr("\n\n4 workers: second. More.\n\n"));
}

TEST(Failures, OfSomeRepeatsAreRemarked) {
  const Report report = report_of({made_run({}), failed({.repeat = 2}, "gone.")});
  EXPECT_THAT(report.tables.front().rows.front().back().text,
              HasSubstr("1 more run did not finish (failed)"));
}

TEST(Failures, OfSeveralKindsAreAllToldWhateverTheOrder) {
  record::RunRecord lost = failed({}, "rank 1 was killed by SIGKILL. Look at its log.");
  record::RunRecord stopped = failed({.repeat = 2}, "interrupted after step 94; a checkpoint is in DIR.");
  stopped.status = stopped.failure->kind = "interrupted";
  for (const auto& records : {std::vector{lost, stopped}, std::vector{stopped, lost}}) {
    const Report report = report_of(records);
    EXPECT_THAT(text_of_finding(report, "failed"),
                HasSubstr("(peer lost: rank 1 was killed by SIGKILL; interrupted after step 94"));
    const Table& summary = report.tables.front();
    std::vector<std::string> texts;
    for (const auto& cell : summary.rows.front()) texts.push_back(cell.text);
    EXPECT_THAT(texts, Contains("1 failed, 1 interrupted"));
    EXPECT_THAT(summary.rows.front().back().text,
                HasSubstr("rank 1 was killed by SIGKILL; interrupted after step 94"));
    EXPECT_THAT(base::split(summary.note, '\n'), SizeIs(3));
  }
}

TEST(Charts, OfFiguresByAxisOnlyAFewAreDrawnWhereNobodyAskedForThem) {
  const Grid grid = make_grid(nullptr, {}, rich_records(false));
  EXPECT_THAT(make_charts("axes", {grid}), SizeIs(4));
  const lab::Study study = published_study();
  const Grid asked = make_grid(&study, {}, published_records());
  EXPECT_THAT(make_charts("axes", {asked, &study}), Not(SizeIs(0)));
}

}  // namespace
}  // namespace lockstep::report
