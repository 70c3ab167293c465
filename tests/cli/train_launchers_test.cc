// `lockstep train` as ranks that something else started.
#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

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

TEST_F(TrainLaunchers, ranks_of_another_host_do_not_share_the_cores_of_this_one) {
  const ProgramRun run =
      run_shell(setting() + "export LOCAL_RANK=0 LOCAL_WORLD_SIZE=1\n" + by_hand("--threads $(nproc)"));
  if (run.exit_code == 4) GTEST_SKIP() << run.err;  // no backend here that joins hosts
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(kept_record()["local_world"], 1);
  EXPECT_FALSE(kept_record().contains("oversubscribed"));
}

TEST_F(TrainLaunchers, workers_that_disagree_with_the_environment_are_refused_by_name) {
  const ProgramRun run =
      run_shell(setting() + "RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29513 " + program() +
                " train --data digits --workers 3");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("workers 3 disagrees with the 2 ranks that RANK says"));
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
