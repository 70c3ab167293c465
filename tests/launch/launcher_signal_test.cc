// A launcher that is interrupted, killed, or whose reader goes away.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <thread>

#include "tests/launch/launched_run.h"

namespace lockstep::launch {
namespace {

using testing::HasSubstr;

class Interruption : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, Interruption, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(Interruption, ends_all_ranks_and_says_so_in_one_line) {
  signal(SIGHUP, SIG_DFL);  // whoever runs the tests may ignore it
  LaunchedRun run({"workers=2"}, {"pid=@", "sleep=60"});
  const auto pids = run.rank_pids(2);
  run.signal(GetParam());
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 128 + GetParam());
  EXPECT_THAT(result.error, testing::MatchesRegex("interrupted by SIG[A-Z]+: all ranks were ended\n"));
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(LauncherSignal, a_second_interrupt_does_not_wait_for_the_grace_period) {
  LaunchedRun run({"workers=2", "grace=60s"}, {"ignore=15", "pid=@", "sleep=60"});
  const auto pids = run.rank_pids(2);
  run.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // two that come together are one
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().exit_code, 130);
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(LauncherSignal, a_signal_that_was_ignored_at_the_start_stays_ignored) {
  signal(SIGHUP, SIG_IGN);  // as nohup does
  LaunchedRun run({"workers=2"}, {"pid=@", "await=@/go", "out=done"});
  signal(SIGHUP, SIG_DFL);
  run.rank_pids(2);
  run.signal(SIGHUP);
  run.make_file("go");
  const auto result = run.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "done\n");
}

TEST(LauncherSignal, a_killed_launcher_leaves_no_rank) {
  LaunchedRun run({"workers=3"}, {"ignore=15", "pid=@", "2:kill=19", "sleep=60"});
  const auto pids = run.rank_pids(3);
  run.signal(SIGKILL);
  EXPECT_EQ(run.wait().exit_code, 128 + SIGKILL);
  for (const pid_t pid : pids) EXPECT_TRUE(ends_soon(pid));
}

TEST(LauncherSignal, a_reader_that_goes_away_ends_the_run_quietly) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  TemporaryDirectory directory;
  const std::string logs = " logs=" + (directory.path() / "logs").string();
  const std::string command = "{ " + self + "/launch_probe workers=2" + logs + " -- " + self +
                              "/rank_probe 0:out=first sleep=0.5 0:fill=1000000 sleep=60 2>" +
                              (directory.path() / "err").string() + "; echo $? >" +
                              (directory.path() / "code").string() + "; } | head -n 1 >/dev/null";
  ASSERT_EQ(system(command.c_str()), 0);
  EXPECT_EQ(text_of(directory.path() / "code"), "141\n");
  EXPECT_EQ(text_of(directory.path() / "err"), "");
}

}  // namespace
}  // namespace lockstep::launch
