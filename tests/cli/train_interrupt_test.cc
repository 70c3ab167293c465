// `lockstep train` is interrupted: workers wind down, the record is written, the exit code names the signal.
#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TrainInterrupt : public TrainTest {
 protected:
  // Sends the signal once every worker waits; twice with a pause where asked for.
  ProgramRun interrupt(const std::string& signal, const std::string& behaviour, int workers, int times = 1,
                       const std::string& pause = "0.3") const {
    const std::string waiting = "until [ $(grep -c waiting '" + store.string() + "/err') -ge " +
                                std::to_string(workers) + " ]; do sleep 0.05; done\n";
    std::string kills;
    for (int i = 0; i < times; ++i) kills += "kill -" + signal + " $pid; sleep " + pause + "\n";
    return run_shell(setting(behaviour) + "set -m\n" + program() + " train --data digits --workers " +
                     std::to_string(workers) + " 2> '" + store.string() + "/err' &\npid=$!\n" + waiting +
                     kills + "wait $pid; code=$?\ncat '" + store.string() + "/err' >&2\nexit $code");
  }
};

TEST_F(TrainInterrupt, ctrl_c_lets_the_workers_write_a_checkpoint_and_a_record_is_kept) {
  const ProgramRun run = interrupt("INT", "wait", 2);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_THAT(run.out, HasSubstr("interrupted"));
  const auto record = kept_record();
  EXPECT_EQ(record["status"], "interrupted");
  EXPECT_EQ(record["steps"]["count"], 8);
  EXPECT_THAT(run_shell("cat '" + runs().at(0).string() + "'/rank*.jsonl").out, HasSubstr("checkpoint"));
}

TEST_F(TrainInterrupt, the_summary_has_the_workers_word_on_it_and_blames_no_rank) {
  const ProgramRun run = interrupt("TERM", "wait", 2);
  EXPECT_THAT(run.out, HasSubstr("Interrupted\n  stopped by SIGTERM\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("(rank")));
  EXPECT_EQ(kept_record()["failure"]["rank"], -1);
}

TEST_F(TrainInterrupt, sigterm_gives_143) {
  EXPECT_EQ(interrupt("TERM", "wait", 1).exit_code, 143);
  EXPECT_EQ(kept_record()["status"], "interrupted");
}

TEST_F(TrainInterrupt, a_second_ctrl_c_ends_stubborn_workers_at_once) {
  const ProgramRun run = interrupt("INT", "stubborn", 1, 2);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_THAT(run.err, HasSubstr("interrupted by SIGINT"));
  EXPECT_EQ(kept_record()["failure"]["kind"], "interrupted");
}

TEST_F(TrainInterrupt, two_signals_in_a_row_end_with_a_word_too) {
  const ProgramRun run = interrupt("TERM", "wait", 2, 2, "0");
  EXPECT_EQ(run.exit_code, 143) << run.err;
  EXPECT_THAT(run.err, HasSubstr("interrupted by SIGTERM"));
}

}  // namespace
}  // namespace lockstep::testing
