#include "lockstep/lab/study_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lockstep/lab/repeat_interval.h"
#include "lockstep/lab/study_parse.h"

namespace lockstep::lab {
namespace {

using ::testing::HasSubstr;

StudyPlan plan_of(const std::string& rest, const std::string& axes = "workers: [1, 2]") {
  StudyPlan plan;
  plan.study = parse_study("name: s\ntitle: t\nquestion: q\naxes: {" + axes + "}\n" + rest, "s.yaml");
  for (const Cell& cell : cells_of(plan.study)) {
    PlannedCell planned;
    planned.cell = cell;
    planned.estimate_seconds = 2;
    plan.cells.push_back(planned);
  }
  return plan;
}

record::RunRecord record_of(const std::string& status, double step_seconds = 1,
                            double samples_per_second = 1) {
  record::RunRecord record;
  record.status = status;
  record.wall_seconds.total = 3;
  record.steps.seconds.emplace().median = step_seconds;
  record.steps.samples_per_second = samples_per_second;
  return record;
}

TEST(StudyState, repeats_go_round_so_that_cells_are_interleaved) {
  const StudyPlan plan = plan_of("repeats: 3", "workers: [1, 2], seed: [1, 2]");
  StudyState state(plan);
  for (int round = 1; round <= 3; ++round) {
    std::set<std::size_t> cells;
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const auto next = state.next(std::nullopt);
      ASSERT_TRUE(next);
      EXPECT_EQ(next->repeat, round);
      cells.insert(next->cell);
      state.add(next->cell, next->repeat, record_of("finished"));
    }
    EXPECT_EQ(cells.size(), plan.cells.size());
  }
  EXPECT_FALSE(state.next(std::nullopt));
  EXPECT_THAT(state.end_of(0).text, HasSubstr("all 3 repeats"));
}

TEST(StudyState, a_cell_is_repeated_until_its_interval_is_narrow_and_says_so) {
  const StudyPlan plan = plan_of("repeats: {min: 2, max: 9}\ninterval: 5%");
  StudyState state(plan);
  for (int repeat = 1; repeat <= 2; ++repeat) state.add(0, repeat, record_of("finished", 1.0 + 0.5 * repeat));
  EXPECT_FALSE(state.end_of(0).ended());
  for (int repeat = 1; repeat <= 2; ++repeat)
    state.add(1, repeat, record_of("finished", 1.0 + 1e-4 * repeat));
  EXPECT_EQ(state.end_of(1).kind, EndKind::interval_reached);
  EXPECT_THAT(state.end_of(1).text, HasSubstr("within the goal of 5 %"));
}

TEST(StudyState, a_cell_whose_budget_is_spent_says_so) {
  const StudyPlan plan = plan_of("repeats: 5\ncell_budget: 5s");
  StudyState state(plan);
  state.add(0, 1, record_of("finished"));
  EXPECT_FALSE(state.end_of(0).ended());
  state.add(0, 2, record_of("finished"));
  EXPECT_EQ(state.end_of(0).kind, EndKind::budget_spent);
}

TEST(StudyState, nothing_starts_when_the_studys_time_is_up) {
  const StudyPlan plan = plan_of("repeats: 2");
  StudyState state(plan);
  EXPECT_TRUE(state.next(1.0));
  EXPECT_FALSE(state.next(0.0));
  state.add(0, 1, record_of("finished"));
  state.add(1, 1, record_of("finished"));
  EXPECT_FALSE(state.next(2.0)) << "a repeat is known to take three seconds";
}

TEST(StudyState, out_of_memory_is_an_answer_and_a_failure_is_not_repeated) {
  const StudyPlan plan = plan_of("repeats: 3");
  StudyState state(plan);
  state.add(0, 1, record_of("out_of_memory"));
  state.add(1, 1, record_of("failed"));
  EXPECT_EQ(state.end_of(0).kind, EndKind::out_of_memory);
  EXPECT_EQ(state.end_of(1).kind, EndKind::failed);
  EXPECT_FALSE(state.next(std::nullopt));
}

TEST(StudyState, a_ladder_is_climbed_while_it_pays) {
  const StudyPlan plan =
      plan_of("ladder: {axis: batch_size, least_gain: 5%, always: 32}", "batch_size: [8, 32, 128, 512]");
  StudyState state(plan);
  EXPECT_EQ(state.next(std::nullopt)->cell, 0u);
  state.add(0, 1, record_of("finished", 1, 100));
  EXPECT_EQ(state.next(std::nullopt)->cell, 1u);
  state.add(1, 1, record_of("finished", 1, 150));
  EXPECT_EQ(state.next(std::nullopt)->cell, 2u);
  state.add(2, 1, record_of("finished", 1, 151));
  EXPECT_FALSE(state.next(std::nullopt));
  EXPECT_THAT(state.end_of(3).text,
              HasSubstr("batch_size 128 changed samples_per_second by +0.7 %; it is to be 5 % better"));
}

TEST(StudyState, of_a_ladders_figure_less_is_a_gain_where_less_is_better) {
  const StudyPlan plan = plan_of("ladder: {axis: batch_size, figure: step_seconds, least_gain: 5%}",
                                 "batch_size: [8, 32, 128, 512]");
  StudyState state(plan);
  state.add(0, 1, record_of("finished", 1.0));
  state.add(1, 1, record_of("finished", 0.8));
  EXPECT_EQ(state.next(std::nullopt)->cell, 2u);
  state.add(2, 1, record_of("finished", 1.0));
  EXPECT_FALSE(state.next(std::nullopt));
  EXPECT_THAT(state.end_of(3).text,
              HasSubstr("batch_size 128 changed step_seconds by +25.0 %; it is to be 5 % better"));
}

TEST(StudyState, a_ladder_ends_where_memory_does) {
  const StudyPlan plan = plan_of("ladder: {axis: batch_size}", "batch_size: [8, 32, 128]");
  StudyState state(plan);
  state.add(0, 1, record_of("finished", 1, 100));
  state.add(1, 1, record_of("out_of_memory"));
  EXPECT_FALSE(state.next(std::nullopt));
  EXPECT_EQ(state.end_of(2).kind, EndKind::ladder_ended);
}

TEST(RepeatInterval, differences_come_with_welchs_interval) {
  const std::vector<double> a = {1.0, 1.1, 0.9}, b = {2.0, 2.1, 1.9}, c = {1.05, 0.8, 1.3};
  const Difference far = difference_of(a, b);
  EXPECT_NEAR(far.difference, 1.0, 1e-12);
  EXPECT_NEAR(far.interval->high - far.interval->low, 2 * 2.776 * 0.0816497, 1e-3);
  EXPECT_TRUE(*far.significant());
  EXPECT_FALSE(*difference_of(a, c).significant());
  EXPECT_FALSE(difference_of(std::vector<double>{1}, b).significant());
}

}  // namespace
}  // namespace lockstep::lab
