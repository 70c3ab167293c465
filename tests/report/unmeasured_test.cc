// What nobody measured is neither 0 nor well: no sentence rests on it, no table shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/report/formats/formats.h"
#include "lockstep/report/tables/tables.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// As engine torch leaves it, whose libraries hide how long a rank waits for the others.
record::RunRecord without_waits(record::RunRecord run) {
  run.comm.peer_wait_seconds.reset();
  for (record::RankFigures& rank : run.per_rank) rank.peer_wait_seconds.reset();
  return run;
}

// measure: false.
record::RunRecord without_split(record::RunRecord run) {
  run.steps.split_seconds.reset();
  for (record::RankFigures& rank : run.per_rank) rank.split_seconds.reset();
  return run;
}

// Exposed communication is then a part of backward.
record::RunRecord without_exposed(record::RunRecord run) {
  run.steps.split_seconds->exposed_comm.reset();
  run.comm.exposed_seconds.reset();
  for (record::RankFigures& rank : run.per_rank) rank.split_seconds->exposed_comm.reset();
  return run;
}

TEST(Unmeasured, WaitingForPeersIsIncludedWhereNobodyKnowsIt) {
  MadeRun four{.workers = 4, .exposed = 0.030, .busy = 0.040};
  const Report known = report_of({made_run({}), made_run(four)});
  EXPECT_THAT(text_of_finding(known, "communication-bound"), HasSubstr("waiting for peers not counted"));
  const Report report = report_of({made_run({}), without_waits(made_run(four))});
  const Sentence* bound = sentence_of(report, "communication-bound");
  ASSERT_NE(bound, nullptr);
  EXPECT_THAT(bound->text, AllOf(HasSubstr("waiting for peers included"), Not(HasSubstr("not counted"))));
  for (const Evidence& rest : bound->rests_on) EXPECT_THAT(rest.field, Not(HasSubstr("peer_wait")));
}

TEST(Unmeasured, NoRankIsCalledSlowOrNoneWhereWaitsAreNotKnown) {
  MadeRun four = waiting_ranks();
  four.workers = 4;
  four.slow_rank = 2;
  const auto found = [](const record::RunRecord& run) { return findings(report_of({made_run({}), run})); };
  record::RunRecord run = made_run(four);
  EXPECT_THAT(found(run), Contains("straggler"));
  run.per_rank[2].peer_wait_seconds.reset();
  EXPECT_THAT(found(run), AllOf(Not(Contains("straggler")), Not(Contains("uneven-ranks"))));
  EXPECT_THAT(found(without_waits(run)), AllOf(Not(Contains("straggler")), Not(Contains("uneven-ranks"))));
}

TEST(Unmeasured, OnlyWhatWasMeasuredIsSaidNotToBindTheStep) {
  const record::RunRecord four = made_run({.workers = 4});
  const auto told = [](const record::RunRecord& run) { return report_of({made_run({}), run}); };
  EXPECT_THAT(text_of_finding(told(four), "all-well"),
              HasSubstr("neither data, stragglers nor communication"));
  EXPECT_THAT(text_of_finding(told(without_waits(four)), "all-well"),
              HasSubstr("neither data nor communication take 15 % of the step"));
  for (const record::RunRecord& run : {without_split(four), without_exposed(four)}) {
    const Report report = told(run);
    EXPECT_THAT(findings(report), Not(Contains("all-well")));
    EXPECT_THAT(text_of_finding(report, "scales-well"),
                AllOf(HasSubstr("efficiency at 4 workers. "), Not(HasSubstr("neither"))));
  }
}

TEST(Unmeasured, GrowthIsNotBlamedOnAPartThatOneOfTheTwoDoesNotKnow) {
  const record::RunRecord four = made_run({.workers = 4, .backward = 0.025, .exposed = 0.030});
  EXPECT_THAT(findings(report_of({made_run({}), four})), Contains("grew-exposed_comm"));
  EXPECT_THAT(findings(report_of({without_exposed(made_run({})), four})), Contains("grew-backward"));
}

TEST(Unmeasured, MessagesAndBusyTimeThatNoRowKnowsAreEmpty) {
  record::RunRecord run = made_run({.workers = 2});
  for (record::LedgerLine& line : run.ledger)
    if (line.purpose == "gradient") {
      line.messages.reset();
      line.busy_seconds.reset();
      line.wire_bytes = 8;
    }
  const Grid grid = make_grid(nullptr, {}, {run});
  const auto table = make_table("messages", {grid});
  ASSERT_TRUE(table);
  EXPECT_THAT(csv_of(*table), HasSubstr("gradient,all_reduce,shm,,47390208,16,,counted\r\n"));
  EXPECT_THAT(csv_of(*table), HasSubstr("metric,all_reduce,shm,20,"));
}

}  // namespace
}  // namespace lockstep::report
