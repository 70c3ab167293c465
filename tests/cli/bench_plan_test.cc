#include "lockstep/cli/bench/bench_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/cli/bench/plan_check.h"

namespace lockstep::cli {
namespace {

using measure::Collective;
using ::testing::ElementsAre;

BenchOptions options_for(std::vector<Collective> collectives) {
  BenchOptions options;
  options.collectives = std::move(collectives);
  options.complete();
  return options;
}

std::vector<std::size_t> counts(const std::vector<Cell>& cells) {
  std::vector<std::size_t> list;
  for (const Cell& cell : cells) list.push_back(cell.count);
  return list;
}

TEST(BenchPlan, sizes_grow_by_the_factor_up_to_the_largest) {
  BenchOptions options;
  options.min_bytes = 4096;
  options.max_bytes = 100000;
  options.factor = 4;
  EXPECT_THAT(payload_sizes(options), ElementsAre(4096, 16384, 65536));
}

TEST(BenchPlan, sizes_grow_by_the_step_when_there_is_one) {
  BenchOptions options;
  options.min_bytes = 10;
  options.max_bytes = 35;
  options.step_bytes = 10;
  EXPECT_THAT(payload_sizes(options), ElementsAre(10, 20, 30));
}

TEST(BenchPlan, a_size_of_nothing_grows_too) {
  BenchOptions options;
  options.min_bytes = 0;
  options.max_bytes = 16;
  EXPECT_THAT(payload_sizes(options), ElementsAre(0, 1, 4, 16));
}

TEST(BenchPlan, counts_are_multiples_of_the_world_where_there_are_parts) {
  BenchOptions options = options_for({Collective::all_gather});
  options.min_bytes = 4096;
  options.max_bytes = 4096;
  EXPECT_THAT(counts(plan_cells(options, 3)), ElementsAre(1023));
  options.min_bytes = options.max_bytes = 4;
  EXPECT_THAT(counts(plan_cells(options, 3)), ElementsAre(3));
}

TEST(BenchPlan, sizes_that_round_to_the_same_count_are_measured_once) {
  BenchOptions options = options_for({Collective::all_reduce});
  options.min_bytes = 1;
  options.max_bytes = 16;
  EXPECT_THAT(counts(plan_cells(options, 2)), ElementsAre(1, 4));
}

TEST(BenchPlan, a_barrier_is_one_cell_and_reductions_multiply_only_what_reduces) {
  BenchOptions options = options_for({Collective::barrier, Collective::broadcast, Collective::reduce});
  options.ops = {comm::ReduceOp::sum, comm::ReduceOp::max};
  options.min_bytes = options.max_bytes = 64;
  EXPECT_EQ(plan_cells(options, 2).size(), 1u + 1u + 2u);
}

TEST(BenchPlan, refuses_a_root_that_is_not_there_and_send_alone) {
  BenchOptions options = options_for({Collective::broadcast});
  options.root = 2;
  EXPECT_THROW(check_world(options, 2), base::ConfigError);
  EXPECT_NO_THROW(check_world(options, 3));
  EXPECT_THROW(check_world(options_for({Collective::send}), 1), base::ConfigError);
}

TEST(BenchPlan, memory_kinds_are_those_that_make_a_difference) {
  using enum BufferChoice;
  EXPECT_THAT(buffer_kinds(automatic, comm::Place::shared, true), ElementsAre(owned, private_));
  EXPECT_THAT(buffer_kinds(automatic, comm::Place::shared, false), ElementsAre(owned));
  EXPECT_THAT(buffer_kinds(both, comm::Place::host, true), ElementsAre(private_));
  EXPECT_THAT(buffer_kinds(automatic, comm::Place::device, true), ElementsAre(owned));
  EXPECT_THROW(buffer_kinds(private_, comm::Place::device, true), base::ConfigError);
}

TEST(BenchPlan, small_operations_are_timed_in_batches_and_large_ones_alone) {
  const Effort small = plan_effort({1e-6}, 0);
  EXPECT_NEAR(small.batch, 100, 1);
  EXPECT_LE(small.batch * small.samples * 1e-6, 0.32);
  const Effort large = plan_effort({0.25, 0.05}, 0);
  EXPECT_EQ(large.batch, 1);
  EXPECT_EQ(large.samples, 5);
}

TEST(BenchPlan, iterations_that_were_asked_for_are_kept) {
  const Effort effort = plan_effort({1e-6}, 20);
  EXPECT_EQ(effort.batch * effort.samples, 20);
}

TEST(BenchOptionsTest, contradictions_are_refused) {
  BenchOptions options;
  EXPECT_THROW(options.complete(), base::UsageError);
  options.collectives = {Collective::all_reduce};
  options.min_bytes = options.max_bytes + 1;
  EXPECT_THROW(options.complete(), base::ConfigError);
}

TEST(BenchPlanCheck, equal_plans_differ_in_nothing) {
  const BenchOptions options = options_for({Collective::all_reduce});
  EXPECT_EQ(plan_difference(plan_words(options), 1, plan_text(plan_words(options)), 0), "");
}

TEST(BenchPlanCheck, every_flag_that_differs_is_named_with_both_values) {
  BenchOptions mine = options_for({Collective::all_reduce});
  BenchOptions theirs = mine;
  mine.types = {comm::ElementType::f64};
  theirs.types = {comm::ElementType::f32};
  mine.max_bytes = 8192;
  theirs.max_bytes = 4096;
  EXPECT_EQ(plan_difference(plan_words(mine), 2, plan_text(plan_words(theirs)), 0),
            "--dtype is f64 on rank 2 and f32 on rank 0; --max-bytes is 8192 on rank 2 and 4096 on rank 0");
}

TEST(BenchPlanCheck, what_another_version_says_is_not_taken_for_a_flag) {
  const PlanWords mine = plan_words(options_for({Collective::all_reduce}));
  EXPECT_EQ(plan_difference(mine, 1, "--something else\n", 0), "rank 1 and rank 0 are of different versions");
}

}  // namespace
}  // namespace lockstep::cli
