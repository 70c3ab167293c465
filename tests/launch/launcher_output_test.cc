// What ranks write, and what they are told.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/launch/launched_run.h"

namespace lockstep::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Launcher, passes_rank_0s_results_through_and_tags_everything_else) {
  const auto run = run_ranks({"workers=2"}, {"out=result", "err=word"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "result\n");
  EXPECT_THAT(run.error, HasSubstr("[rank0] word\n"));
  EXPECT_THAT(run.error, HasSubstr("[rank1] result\n"));
  EXPECT_THAT(run.error, HasSubstr("[rank1] word\n"));
}

TEST(Launcher, completes_a_last_line_without_an_end) {
  const auto run = run_ranks({"workers=2"}, {"1:raw=half a line"});
  EXPECT_EQ(run.error, "[rank1] half a line\n");
}

TEST(Launcher, carries_large_results_whole) {
  const auto run = run_ranks({"workers=1"}, {"fill=3000000"});
  EXPECT_EQ(run.output.size(), 3000000U);
}

TEST(Launcher, tells_ranks_how_long_the_server_waits_for_them) {
  const auto run = run_ranks({"workers=2", "join_timeout=90s"}, {"1:env=LOCKSTEP_JOIN_TIMEOUT"});
  EXPECT_EQ(run.error, "[rank1] LOCKSTEP_JOIN_TIMEOUT=90\n");
}

TEST(Launcher, tells_ranks_who_they_are) {
  const auto run =
      run_ranks({"workers=3"}, {"1:env=RANK", "1:env=WORLD_SIZE", "1:env=LOCAL_RANK",
                                "1:env=LOCAL_WORLD_SIZE", "1:env=MASTER_ADDR", "1:env=LOCKSTEP_SERVER"});
  EXPECT_EQ(run.error,
            "[rank1] RANK=1\n[rank1] WORLD_SIZE=3\n[rank1] LOCAL_RANK=1\n[rank1] LOCAL_WORLD_SIZE=3\n"
            "[rank1] MASTER_ADDR=127.0.0.1\n[rank1] LOCKSTEP_SERVER=launcher\n");
}

TEST(Launcher, sets_the_threads_that_were_asked_for) {
  EXPECT_EQ(run_ranks({"workers=1", "threads=3"}, {"env=OMP_NUM_THREADS"}).output, "OMP_NUM_THREADS=3\n");
}

TEST(Launcher, keeps_a_log_of_every_rank_that_wrote) {
  LaunchedRun run({"workers=3"}, {"0:out=result", "1:err=word"});
  EXPECT_EQ(run.wait().exit_code, 0);
  EXPECT_EQ(text_of(run.directory() / "logs" / "rank0.log"), "result\n");
  EXPECT_EQ(text_of(run.directory() / "logs" / "rank1.log"), "word\n");
  EXPECT_FALSE(std::filesystem::exists(run.directory() / "logs" / "rank2.log"));
}

TEST(Launcher, goes_on_without_logs_where_they_cannot_be_written) {
  setenv("LOCKSTEP_STORE", "/dev/null", 1);
  const auto run = run_ranks({"workers=2", "logs="}, {"out=result"});
  unsetenv("LOCKSTEP_STORE");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "result\n");
  EXPECT_THAT(run.error, HasSubstr("warning: cannot write /dev/null/logs/"));
}

TEST(Launcher, does_not_start_where_logs_were_asked_for_and_cannot_be_written) {
  const auto run = run_ranks({"workers=2", "logs=/dev/null/logs"}, {"out=result"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.output, "");
  EXPECT_THAT(run.error, HasSubstr("logs cannot be kept in /dev/null/logs: Not a directory"));
}

TEST(Launcher, a_run_that_goes_well_says_nothing_of_its_own) {
  EXPECT_EQ(run_ranks({"workers=2"}, {"sleep=0.1"}).error, "");
}

TEST(Launcher, more_workers_than_cores_run_too) {
  const auto run = run_ranks({"workers=9"}, {"out=here", "cpus"});
  EXPECT_EQ(run.exit_code, 0);
  for (int rank = 1; rank < 9; ++rank)
    EXPECT_THAT(run.error, HasSubstr("[rank" + std::to_string(rank) + "] here\n"));
}

}  // namespace
}  // namespace lockstep::launch
