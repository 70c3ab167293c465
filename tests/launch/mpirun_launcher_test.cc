// Ranks that mpirun starts: the same tags, pinning and failure rules as for our own.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/launch/launched_run.h"

namespace lockstep::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> through_mpirun(int workers) {
  return {"mpirun=1", "workers=" + std::to_string(workers)};
}

TEST(MpirunLauncher, passes_rank_0s_results_through_and_tags_everything_else) {
  LaunchedRun run(through_mpirun(3), {"out=result", "err=word", "0:where=@"});
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.output, "result\n");
  EXPECT_THAT(result.error, HasSubstr("[rank0] word\n"));
  EXPECT_THAT(result.error, HasSubstr("[rank2] result\n"));
  EXPECT_EQ(text_of(run.directory() / "logs" / "rank1.log"), "result\nword\n");
  const std::string private_directory = run.await_file("where");
  EXPECT_THAT(private_directory, HasSubstr("lockstep-run-"));
  EXPECT_FALSE(std::filesystem::exists(private_directory));
}

TEST(MpirunLauncher, ranks_learn_who_they_are_from_mpirun_and_where_to_meet_from_us) {
  const auto run =
      run_ranks(through_mpirun(2), {"0:env=RANK", "0:env=OMPI_COMM_WORLD_SIZE", "0:env=MASTER_ADDR",
                                    "0:env=LOCKSTEP_SERVER", "0:env=LOCKSTEP_RANK_OUTPUT"});
  EXPECT_EQ(run.output,
            "RANK=\nOMPI_COMM_WORLD_SIZE=2\nMASTER_ADDR=127.0.0.1\nLOCKSTEP_SERVER=launcher\n"
            "LOCKSTEP_RANK_OUTPUT=\n");
}

TEST(MpirunLauncher, pins_ranks_as_the_local_launcher_does) {
  const auto ours = run_ranks({"workers=2"}, {"cpus"});
  const auto mpirun = run_ranks(through_mpirun(2), {"cpus"});
  EXPECT_EQ(ours.output, mpirun.output);
  EXPECT_EQ(ours.error, mpirun.error);
}

TEST(MpirunLauncher, names_a_rank_that_exits_and_passes_its_code_through) {
  LaunchedRun run(through_mpirun(3), {"pid=@", "1:out=about to fail", "1:exit=6", "sleep=60"});
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.error, HasSubstr("error: rank 1 exited with code 6"));
  EXPECT_THAT(result.error, HasSubstr("\n    about to fail\n"));
  EXPECT_THAT(result.error, HasSubstr("ranks 0, 2 were ended because of it"));
  EXPECT_THAT(result.error, Not(HasSubstr("mpirun")));
  for (const pid_t pid : run.rank_pids(3)) EXPECT_TRUE(ends_soon(pid));
}

TEST(MpirunLauncher, a_killed_rank_ends_the_run_and_is_named) {
  LaunchedRun run(through_mpirun(3), {"pid=@", "0:where=@", "sleep=60"});
  const auto pids = run.rank_pids(3);
  const std::string private_directory = run.await_file("where");
  kill(pids[1], SIGKILL);
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("error: rank 1 was killed"));
  EXPECT_FALSE(std::filesystem::exists(private_directory));
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(MpirunLauncher, a_rank_that_is_killed_while_its_program_is_loaded_ends_the_run_and_is_named) {
  // What mpirun takes for itself, on this machine and now.
  const double start_up = run_ranks(through_mpirun(2), {}).seconds;
  // Whether it is seen before it dies is chance.
  for (const std::string death : {"unheard=1", "stillborn=0", "stillborn=1", "stillborn=1", "stillborn=1"}) {
    LaunchedRun run(through_mpirun(2), {death, "sleep=60"});
    const auto result = run.wait();
    EXPECT_EQ(result.exit_code, 1) << death;
    EXPECT_THAT(result.error, HasSubstr("error: rank " + death.substr(death.size() - 1) + " was killed"))
        << death;
    EXPECT_LT(result.seconds, 30) << death << ": it was noticed, not waited for";
    const double promised = 5 + (death == "unheard=1" ? 1 : 0);  // which dies after a second
    EXPECT_LT(result.seconds, promised + start_up) << death;
  }
}

TEST(MpirunLauncher, ranks_join_the_run_and_the_verdict_tells_where_the_others_were) {
  EXPECT_EQ(run_ranks(through_mpirun(3), {"join", "goodbye"}).exit_code, 0);
  LaunchedRun run(through_mpirun(2), {"join", "pid=@", "sleep=60"});
  const auto pids = run.rank_pids(2);
  kill(pids[1], SIGKILL);
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("error: rank 1 was killed (mpirun does not tell how) while rank 0 "));
  EXPECT_TRUE(ends_soon(pids[0]));
}

TEST(MpirunLauncher, ends_ranks_that_are_stopped_or_ignore_the_request) {
  LaunchedRun run(through_mpirun(3),
                  {"ignore=15", "pid=@", "1:kill=19", "2:await=@/go", "2:exit=7", "sleep=60"});
  const auto pids = run.rank_pids(3);
  run.make_file("go");
  EXPECT_EQ(run.wait().exit_code, 1);
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(MpirunLauncher, an_interrupt_ends_all_ranks) {
  LaunchedRun run(through_mpirun(2), {"pid=@", "sleep=60"});
  const auto pids = run.rank_pids(2);
  run.signal(SIGINT);
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.error, "interrupted by SIGINT: all ranks were ended\n");
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(MpirunLauncher, a_killed_launcher_leaves_no_rank_and_no_file) {
  LaunchedRun run(through_mpirun(2), {"0:where=@", "pid=@", "1:kill=19", "sleep=60"});
  const auto pids = run.rank_pids(2);
  run.signal(SIGKILL);
  run.wait();
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
  EXPECT_TRUE(vanishes_soon(run.await_file("where")));
}

TEST(MpirunLauncher, a_killed_mpirun_leaves_no_rank_and_is_named) {
  LaunchedRun run(through_mpirun(2), {"pid=@", "sleep=60"});
  const auto pids = run.rank_pids(2);
  const std::string stat = text_of("/proc/" + std::to_string(pids[0]) + "/stat");
  kill(std::stoi(stat.substr(stat.rfind(')') + 4)), SIGKILL);
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error,
              HasSubstr("error: mpirun, which started the ranks, was killed by signal 9 (SIGKILL)"));
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(MpirunLauncher, works_without_a_search_path) {
  const std::string path = getenv("PATH");
  unsetenv("PATH");
  const auto run = run_ranks(through_mpirun(2), {"out=result"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "result\n");
}

TEST(MpirunLauncher, without_mpirun_the_backend_is_missing) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const auto run = run_ranks(through_mpirun(2), {});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.error, HasSubstr("openmpi-bin"));
}

}  // namespace
}  // namespace lockstep::launch
