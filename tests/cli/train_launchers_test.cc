// `lockstep train` as ranks that something else started.
#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TrainLaunchers : public TrainTest {
 protected:
  static std::string by_hand(const std::string& arguments) {
    return "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29511\n"
           "RANK=1 " +
           program() + " train --data digits " + arguments + " & one=$!\nRANK=0 " + program() +
           " train --data digits " + arguments + "; code=$?\nwait $one || code=$?\nexit $code";
  }
};

TEST_F(TrainLaunchers, rank_0_keeps_one_record_of_all_ranks) {
  const ProgramRun run = run_shell(setting() + by_hand("--json"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto record = nlohmann::json::parse(run.out);
  EXPECT_EQ(record["workers"], 2);
  EXPECT_EQ(record["status"], "finished");
  EXPECT_EQ(record["per_rank"].size(), 2u);
  EXPECT_EQ(runs().size(), 1u);
}

TEST_F(TrainLaunchers, flags_name_the_rank_too) {
  const ProgramRun run = run_shell(setting() + program() +
                                   " train --data digits --rank 0 --world 1 --master-addr 127.0.0.1 "
                                   "--master-port 29512");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("ranks from flags"));
}

TEST_F(TrainLaunchers, mpirun_starts_ranks) {
  if (run_shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "no mpirun here";
  const ProgramRun run =
      run_shell(setting() + "mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 " + program() +
                " train --data digits");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2 workers on cpu"));
}

TEST_F(TrainLaunchers, ranks_that_mpirun_bound_to_cores_of_their_own_share_none) {
  if (run_shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "no mpirun here";
  if (run_shell("test $(nproc) -ge 2 && test $(lscpu -p=CORE | sort -u | grep -vc '#') -ge 2").exit_code != 0)
    GTEST_SKIP() << "fewer than two cores here";
  const ProgramRun run =
      run_shell(setting() + "mpirun --allow-run-as-root --oversubscribe --bind-to core -n 2 " + program() +
                " train --data digits");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(kept_record()["machine"]["cores"], 2);
  EXPECT_FALSE(kept_record().contains("oversubscribed"));
}

// The other host is in tests/train/runs/launchers_test.cc, where the ranks are real.
TEST_F(TrainLaunchers, ranks_of_one_host_share_its_cores_whatever_a_variable_says) {
  const ProgramRun run =
      run_shell(setting() + "export LOCAL_RANK=0 LOCAL_WORLD_SIZE=1\n" + by_hand("--threads $(nproc)"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(kept_record()["spec"]["backend"], "shm");
  EXPECT_FALSE(kept_record().contains("local_world"));
  EXPECT_TRUE(kept_record()["oversubscribed"]);
}

TEST_F(TrainLaunchers, a_rank_with_another_key_is_not_let_in_and_both_sides_say_so) {
  const ProgramRun run = run_shell(
      setting() + "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29516\n" +
      "LOCKSTEP_KEY=" + std::string(64, 'a') + " RANK=1 " + program() +
      " train --data digits & one=$!\nLOCKSTEP_KEY=" + std::string(64, 'b') + " RANK=0 " + program() +
      " train --data digits --join-timeout 3s; code=$?\n" + "wait $one; echo rank 1: $? >&2; exit $code");
  EXPECT_EQ(run.exit_code, 124) << run.err;
  EXPECT_THAT(run.err, HasSubstr("rank 1: 1\n"));
  EXPECT_THAT(run.err, HasSubstr("holds another key than this rank"));
  EXPECT_THAT(run.err, HasSubstr("rank 1 of 2 did not arrive"));
  EXPECT_THAT(run.err, HasSubstr("called with another key"));
  EXPECT_THAT(run.err, Not(HasSubstr("aaaaaaaa")));
  EXPECT_EQ(kept_record()["failure"]["rank"], 1);
}

TEST_F(TrainLaunchers, a_signal_while_ranks_wait_for_each_other_ends_them_and_leaves_no_file) {
  const ProgramRun run = run_shell(
      setting() + "export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=29518\n" + "RANK=0 " + program() +
      " train --data digits & zero=$!\nRANK=1 " + program() + " train --data digits & one=$!\n" +
      "until ls $LOCKSTEP_STORE/meeting-* > /dev/null 2>&1; do sleep 0.05; done\nsleep 1\n" +
      "kill -TERM $one; wait $one; echo rank 1: $? >&2; wait $zero; echo rank 0: $? >&2\n" +
      "! ls $LOCKSTEP_STORE/meeting-*");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("rank 1 was interrupted by SIGTERM before all ranks had met"));
  EXPECT_THAT(run.err, HasSubstr("rank 1: 143\n"));
  EXPECT_THAT(run.err, HasSubstr("rank 0: 143\n"));
  EXPECT_EQ(kept_record()["status"], "interrupted");
}

TEST_F(TrainLaunchers, a_key_that_is_no_secret_is_refused) {
  const ProgramRun run =
      run_shell(setting() + "LOCKSTEP_KEY=1234 RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 " +
                "MASTER_PORT=29517 " + program() + " train --data digits");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("LOCKSTEP_KEY has 4 characters"));
}

TEST_F(TrainLaunchers, an_interface_that_is_not_there_is_refused_with_those_there_are) {
  const ProgramRun run = train("--interface nothing0");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("no interface 'nothing0'"));
  EXPECT_THAT(run.err, HasSubstr("There are: "));
}

TEST_F(TrainLaunchers, workers_that_disagree_with_the_environment_are_refused_by_name) {
  const ProgramRun run =
      run_shell(setting() + "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29513 " + program() +
                " train --data digits --workers 3");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("workers 3 disagrees with the 2 ranks that RANK says"));
}

// Whoever else would notice is served by the one that is stopped.
TEST_F(TrainLaunchers, rank_0s_worker_that_is_stopped_is_ended_at_the_timeout) {
  const ProgramRun run =
      run_shell(setting("wait") + "RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29519 " + program() +
                    " train --data digits --timeout 1s & zero=$!\n" +
                    "until ls $LOCKSTEP_STORE/runs/*/rank0.jsonl > /dev/null 2>&1; do sleep 0.05; done\n" +
                    "kill -STOP $(cat /proc/$zero/task/*/children); wait $zero",
                30);
  EXPECT_EQ(run.exit_code, 124) << run.err;
  EXPECT_THAT(run.err, HasSubstr("rank 0 does not answer (stopped)"));
  EXPECT_EQ(kept_record()["failure"]["kind"], "timed_out");
  EXPECT_EQ(kept_record()["failure"]["rank"], 0);
}

TEST_F(TrainLaunchers, rank_0s_exit_code_is_that_of_its_worker) {
  const ProgramRun run =
      run_shell(setting("fail") + "RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29514 " + program() +
                " train --data digits");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(kept_record()["failure"]["kind"], "DataError");
}

TEST_F(TrainLaunchers, the_record_says_why_a_worker_ended_before_its_first_event) {
  const ProgramRun run =
      run_shell(setting("refuse") + "RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29515 " +
                program() + " train --data digits");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("error: the ranks do not agree"));
  EXPECT_THAT(run.out, HasSubstr("engine    lockstep\n"));
  EXPECT_EQ(kept_record()["failure"]["message"], "the ranks do not agree");
}

}  // namespace
}  // namespace lockstep::testing
