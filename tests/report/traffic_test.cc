// The gradient's collective by its own figures, and waiting that nobody saw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/gradient_traffic.h"
#include "tests/report/made_records.h"

namespace lockstep::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

record::RunRecord run_of(const std::string& strategy, const std::string& collective) {
  record::RunRecord run = made_run({.workers = 2, .strategy = strategy});
  for (record::LedgerLine& line : run.ledger)
    if (line.purpose == "gradient") line.collective = collective;
  return run;
}

// localsgd sends weights.
record::RunRecord without_gradients() {
  record::RunRecord run = made_run({.workers = 2, .strategy = "localsgd"});
  for (record::LedgerLine& line : run.ledger)
    if (line.purpose == "gradient") line.purpose = "parameter";
  run.comm.algorithm_bandwidth.reset();
  run.comm.bus_bandwidth.reset();
  return run;
}

Grid three_strategies() {
  return make_grid(nullptr, {},
                   {run_of("zero1", "reduce_scatter"), run_of("dp", "reduce"), without_gradients()});
}

TEST(Bandwidth, NamesTheFactorOfTheCollectivesThatAreThere) {
  const Grid grid = three_strategies();
  const auto table = make_table("bandwidth", {grid});
  ASSERT_TRUE(table);
  EXPECT_THAT(table->note,
              HasSubstr("bus bandwidth is that times 1 for reduce, (N-1)/N for reduce_scatter."));
  EXPECT_THAT(table->note, Not(HasSubstr("2(N-1)/N")));
  EXPECT_EQ(table->rows.size(), 2U);  // none of localsgd
  const Grid ddp = make_grid(nullptr, {}, {made_run({.workers = 2})});
  EXPECT_THAT(make_table("bandwidth", {ddp})->note, HasSubstr("2(N-1)/N for all_reduce"));
}

TEST(Wire, IsHeldAgainstTheRingOfTheCollectiveThatCarriedTheGradient) {
  EXPECT_THAT(text_of_finding(report_of({run_of("zero1", "reduce_scatter")}), "wire"),
              HasSubstr("a ring of 2 ranks needs 0.5 for reduce_scatter."));
  EXPECT_THAT(text_of_finding(report_of({run_of("ddp", "all_reduce")}), "wire"),
              HasSubstr("a ring of 2 ranks needs 1 for all_reduce."));
  EXPECT_THAT(findings(report_of({run_of("ddp", "reduce")})), Not(Contains("wire")));
}

TEST(Bandwidth, TimeAndBandwidthOfARowAgreeWhateverElseWasSent) {
  record::RunRecord run = run_of("dp", "reduce");
  run.comm.algorithm_bandwidth = 1e8;
  run.comm.busy_seconds = 0.5;  // of all purposes, measured steps alone
  const Grid grid = make_grid(nullptr, {}, {run});
  const GridCell& cell = grid.cells.front();
  EXPECT_DOUBLE_EQ(gradient_transfer_seconds(cell)->value, gradient_payload(cell)->value / 1e8);
  EXPECT_EQ(gradient_collective(cell), measure::Collective::reduce);
}

TEST(Bandwidth, TheBoundFollowsTheCollective) {
  const auto bound = [](const std::string& collective) {
    record::RunRecord run = run_of("ddp", collective);
    run.comm.link_peak = 1e9;
    const Grid grid = make_grid(nullptr, {}, {run});
    const GridCell& cell = grid.cells.front();
    return gradient_bound_seconds(cell)->value / (gradient_payload(cell)->value / 1e9);
  };
  EXPECT_DOUBLE_EQ(bound("all_reduce"), 1);  // 2(N-1)/N of two ranks
  EXPECT_DOUBLE_EQ(bound("reduce_scatter"), 0.5);
  EXPECT_DOUBLE_EQ(bound("reduce"), 1);
}

TEST(Bandwidth, WhoSendsNoGradientHasNoBar) {
  const Grid grid = three_strategies();
  const auto charts = make_charts("bandwidth", {grid});
  ASSERT_EQ(charts.size(), 2U);
  for (const Chart& chart : charts) EXPECT_THAT(chart.x.categories, Not(Contains("localsgd"))) << chart.title;
}

TEST(Waiting, WhatOverlappedWithBackwardKeptNobodyWaiting) {
  MadeRun four = waiting_ranks();
  four.exposed = 0.001;  // of 30 ms of peer wait
  EXPECT_THAT(findings(one_against_four(four)), Not(Contains("uneven-ranks")));
  EXPECT_THAT(findings(one_against_four(waiting_ranks())), Contains("uneven-ranks"));
}

TEST(Waiting, IsSaidOfTheRankWhoseFigureItIsAndTheTableShowsIt) {
  MadeRun made = waiting_ranks();
  made.workers = 2;
  made.peer_wait = 0.012;
  record::RunRecord run = made_run(made);
  run.per_rank[1].peer_wait_seconds = 0.020;
  const std::string text = text_of_finding(report_of({made_run({}), run}), "uneven-ranks");
  EXPECT_THAT(text, HasSubstr("rank 1 waits for the others for 32 % of its mean step (20 ms of"));
  const Grid grid = make_grid(nullptr, {}, {run});
  const auto table = make_table("exposure", {grid});
  ASSERT_TRUE(table);
  const std::vector<TableValue>& row = table->rows.front();
  EXPECT_EQ(row[row.size() - 2].number->value, 1);
  EXPECT_DOUBLE_EQ(row.back().number->value, 0.020);
}

TEST(Waiting, AdviceIsNotWhatTheLauncherDoesAlready) {
  EXPECT_THAT(text_of_finding(one_against_four(waiting_ranks()), "try-quiet"), Not(HasSubstr("pinned")));
}

}  // namespace
}  // namespace lockstep::report
