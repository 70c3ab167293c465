// Ranks that fail: who is named, with which exit code, and that nobody is left.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/launch/launched_run.h"

namespace lockstep::launch {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST(LauncherFailure, names_the_first_failing_rank_with_its_last_lines_and_the_collateral) {
  LaunchedRun run({"workers=3"}, {"pid=@", "1:out=about to fail", "1:exit=7", "sleep=60"});
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("error: rank 1 exited with code 7"));
  EXPECT_THAT(result.error, HasSubstr("\n    about to fail\n"));
  EXPECT_THAT(result.error, HasSubstr("ranks 0, 2 were ended because of it"));
  EXPECT_THAT(result.error, HasSubstr((run.directory() / "logs").string()));
  for (const pid_t pid : run.rank_pids(3)) EXPECT_TRUE(ends_soon(pid));
}

TEST(LauncherFailure, prints_its_error_once) {
  const auto run = run_ranks({"workers=3"}, {"exit=7"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.error.find("error:"), run.error.rfind("error:")) << run.error;
}

class OwnExitCode : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, OwnExitCode, testing::Values(2, 3, 4, 5, 6, 124));

TEST_P(OwnExitCode, passes_through_without_further_words_when_the_rank_explained_it) {
  const std::string code = std::to_string(GetParam());
  const auto run = run_ranks({"workers=2"}, {"0:err=error: the reason", "0:exit=" + code, "sleep=60"});
  EXPECT_EQ(run.exit_code, GetParam());
  EXPECT_EQ(run.error, "[rank0] error: the reason\n");
}

TEST(LauncherFailure, an_unexplained_exit_code_of_ours_is_explained) {
  const auto run = run_ranks({"workers=2"}, {"1:exit=6", "sleep=60"});
  EXPECT_EQ(run.exit_code, 6);
  EXPECT_THAT(run.error, HasSubstr("error: rank 1 exited with code 6"));
}

TEST(LauncherFailure, a_killed_rank_ends_the_run_at_once) {
  LaunchedRun run({"workers=3"}, {"pid=@", "sleep=60"});
  const auto pids = run.rank_pids(3);
  const auto killed_at = std::chrono::steady_clock::now();
  kill(pids[2], SIGKILL);
  const auto result = run.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - killed_at, std::chrono::seconds(10));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("rank 2 was killed by signal 9 (SIGKILL)"));
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

// The last one, one alone, one that has taken leave, and one that never spoke to the server.
TEST(LauncherFailure, a_stopped_rank_for_which_nobody_waits_ends_the_run_at_the_timeout_and_is_named) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"workers=2", {"join", "0:goodbye", "1:kill=19"}},
      {"workers=1", {"join", "kill=19"}},
      {"workers=2", {"join", "goodbye", "1:kill=19"}},
      {"workers=2", {"0:exit=0", "kill=19"}},
  };
  for (const auto& [workers, actions] : cases) {
    const bool joins = actions.front() == "join";
    const auto run = run_ranks({workers, "timeout=1s", joins ? "ranks_join=1" : "ranks_join=0"}, actions);
    EXPECT_EQ(run.exit_code, 124) << run.error;
    const std::string rank = workers == "workers=1" ? "0" : "1";
    EXPECT_THAT(run.error, AnyOf(HasSubstr("error: rank " + rank + " does not answer (stopped"),
                                 HasSubstr("error: rank " + rank + " has been stopped")));
    EXPECT_LT(run.seconds, 10);
  }
}

TEST(LauncherFailure, ends_ranks_that_are_stopped_or_ignore_the_request) {
  LaunchedRun run({"workers=3"}, {"ignore=15", "pid=@", "1:kill=19", "2:await=@/go", "2:exit=7", "sleep=60"});
  const auto pids = run.rank_pids(3);
  run.make_file("go");
  EXPECT_EQ(run.wait().exit_code, 1);
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(LauncherFailure, the_time_limit_ends_the_run) {
  LaunchedRun run({"workers=2", "time_limit=300ms"}, {"pid=@", "sleep=60"});
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.error, HasSubstr("error: the run did not end within its time limit of 300 ms"));
  for (const pid_t pid : run.rank_pids(2)) EXPECT_TRUE(ends_soon(pid));
}

TEST(LauncherFailure, ranks_that_never_join_end_the_run) {
  const auto run = run_ranks({"workers=2", "join_timeout=300ms"}, {"sleep=60"});
  EXPECT_EQ(run.exit_code, 124);
  EXPECT_THAT(run.error, HasSubstr("ranks 0 and 1 of 2 did not arrive"));
}

TEST(LauncherFailure, ranks_that_meet_by_other_means_are_not_waited_for) {
  const auto run = run_ranks({"workers=2", "join_timeout=300ms", "ranks_join=0"}, {"sleep=1", "out=done"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "done\n");
}

TEST(LauncherFailure, a_rank_that_ends_well_before_the_others_is_no_failure) {
  const auto run = run_ranks({"workers=2"}, {"1:exit=0", "sleep=1", "out=done"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "done\n");
}

TEST(LauncherFailure, the_verdict_on_a_joined_rank_that_is_killed_tells_where_the_others_were) {
  LaunchedRun run({"workers=2"}, {"join", "pid=@", "sleep=60"});
  const auto pids = run.rank_pids(2);
  kill(pids[1], SIGKILL);
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("error: rank 1 was killed by signal 9 (SIGKILL) while rank 0 "));
  EXPECT_THAT(result.error, HasSubstr("rank 0 was ended because of it"));
  EXPECT_TRUE(ends_soon(pids[0]));
}

TEST(LauncherFailure, a_failure_that_a_rank_reports_is_told_in_its_words_and_with_its_code) {
  const auto run = run_ranks({"workers=2"}, {"join", "1:fail=wrong sums", "1:exit=6", "sleep=60"});
  EXPECT_EQ(run.exit_code, 6);
  EXPECT_THAT(run.error, HasSubstr("error: rank 1: wrong sums\n"));
}

TEST(LauncherFailure, a_rank_that_joins_and_leaves_without_a_goodbye_is_a_failure) {
  const auto run = run_ranks({"workers=2"}, {"join", "1:exit=0", "sleep=60"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.error, HasSubstr("error: rank 1 "));
}

TEST(LauncherFailure, an_exit_code_after_every_rank_said_goodbye_is_the_runs) {
  const auto run = run_ranks({"workers=2"}, {"join", "goodbye", "0:err=error: too slow", "0:exit=5"});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_EQ(run.error, "[rank0] error: too slow\n");
}

TEST(LauncherFailure, no_workers_is_a_usage_error) {
  EXPECT_EQ(run_ranks({"workers=0"}, {}).exit_code, 2);
}

}  // namespace
}  // namespace lockstep::launch
