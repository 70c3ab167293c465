// The variables ranks are told who they are by.
#include "lockstep/launch/rank_environment.h"

#include <gtest/gtest.h>

#include "lockstep/launch/rank_plan.h"

namespace lockstep::launch {
namespace {

TEST(RankEnvironment, uses_the_names_of_torchrun) {
  const Variables variables = merged(rank_variables(2, 4), run_variables({"127.0.0.1", 4711, "abc"}));
  const Variables expected = {{"RANK", "2"},
                              {"WORLD_SIZE", "4"},
                              {"LOCAL_RANK", "2"},
                              {"LOCAL_WORLD_SIZE", "4"},
                              {"MASTER_ADDR", "127.0.0.1"},
                              {"MASTER_PORT", "4711"},
                              {"LOCKSTEP_KEY", "abc"},
                              {"LOCKSTEP_SERVER", "launcher"}};
  EXPECT_EQ(variables, expected);
}

TEST(RankEnvironment, mpirun_inherits_no_other_launchers_rank) {
  const Variables kept = without_other_launchers({{"RANK", "1"}, {"SLURM_JOB_ID", "7"}, {"PATH", "/bin"}});
  EXPECT_EQ(kept, (Variables{{"PATH", "/bin"}}));
}

TEST(RankEnvironment, the_cores_of_every_rank_travel_in_one_variable) {
  const std::string text = encode_rank_cpus({{0, 2}, {1, 3}, {}});
  EXPECT_EQ(text, "0,2;1,3;");
  EXPECT_EQ(decode_rank_cpus(text, 1), (std::vector<int>{1, 3}));
  EXPECT_TRUE(decode_rank_cpus(text, 2).empty());
  EXPECT_TRUE(decode_rank_cpus(text, 9).empty());
}

TEST(RankPlan, the_users_variables_win_over_ours_but_not_over_the_runs) {
  LaunchOptions options;
  options.workers = 2;
  options.command = {"true"};
  options.environment = {{"OMP_NUM_THREADS", "9"}, {"MASTER_PORT", "1"}};
  const RankPlan plan = plan_ranks(options, {"127.0.0.1", 4711, "abc"});
  EXPECT_EQ(plan.added.at("OMP_NUM_THREADS"), "9");
  EXPECT_EQ(plan.added.at("MASTER_PORT"), "4711");
  EXPECT_EQ(plan.placement.workers.size(), 2U);
}

}  // namespace
}  // namespace lockstep::launch
