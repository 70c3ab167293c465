// `lockstep train --engine torch` around its script, with a stand-in for Python: ranks that never join our
// server.
#include <fstream>

#include "tests/cli/train_harness.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TrainTorch : public TrainTest {
 protected:
  ProgramRun train_torch(const std::string& arguments, const std::string& behaviour = "finish",
                         const std::string& environment = "") const {
    return run_shell(setting(behaviour) + "export LOCKSTEP_PYTHON='" LOCKSTEP_STAND_IN_PYTHON "' " +
                     environment + "\n" + program() + " train --engine torch --data 'folder:" +
                     store.string() + "' --model lenet5 " + arguments);
  }
};

TEST_F(TrainTorch, a_run_may_be_longer_than_ranks_of_ours_have_to_join) {
  const ProgramRun run =
      train_torch("--workers 2 --steps 12 --join-timeout 1s", "finish", "STAND_IN_PAUSE=0.25");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(kept_record()["status"], "finished");
  EXPECT_EQ(kept_record()["steps"]["count"], 12);
}

TEST_F(TrainTorch, a_rank_that_was_ended_because_of_another_does_not_hide_it) {
  const ProgramRun run = train_torch("--workers 2", "crash", "STAND_IN_WIND_DOWN=0");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(kept_record()["status"], "failed");
  EXPECT_EQ(kept_record()["failure"]["rank"], 1);
  EXPECT_THAT(kept_record()["failure"]["message"], HasSubstr("rank 1 was killed by signal 9"));
}

TEST_F(TrainTorch, ranks_of_another_launcher_are_refused_with_the_next_step) {
  for (const char* dry : {"", "--dry-run"}) {
    const ProgramRun run =
        train_torch(dry, "finish", "RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29516");
    EXPECT_EQ(run.exit_code, 3) << dry << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("RANK says that there are 2 ranks"), HasSubstr("--workers 2")));
    EXPECT_THAT(runs(), IsEmpty());
  }
}

TEST_F(TrainTorch, the_only_rank_of_another_launcher_trains_and_is_not_waited_for_once_it_has_ended) {
  const ProgramRun run = train_torch("", "finish", "RANK=0 WORLD_SIZE=1 STAND_IN_SPACES=1");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(kept_record()["status"], "finished");
  EXPECT_LT(kept_record()["wall_seconds"]["total"], 5);  // what is given to ranks that have not ended
}

TEST_F(TrainTorch, data_parallel_on_fewer_gpus_than_it_needs_is_refused_before_anything_starts) {
  const ProgramRun run =
      train_torch("--strategy dp --workers 2", "finish", "LD_LIBRARY_PATH='" LOCKSTEP_ONE_GPU "'");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("PyTorch's DataParallel needs 2 GPUs, and there is 1"));
  EXPECT_THAT(runs(), IsEmpty());
}

TEST_F(TrainTorch, a_study_lists_data_parallel_where_there_are_too_few_gpus) {
  const std::string file = (store / "grid.yaml").string();
  std::ofstream(file) << "name: grid\ntitle: A grid\nquestion: Is it so?\n"
                         "base: {engine: torch, data: 'folder:"
                      << store.string() << "', workers: 2, steps: 3}\naxes: {strategy: [dp, ddp]}\n";
  for (const char* device : {"auto", "cuda"}) {
    const ProgramRun run = run_shell(setting() +
                                     "export LOCKSTEP_PYTHON='" LOCKSTEP_STAND_IN_PYTHON
                                     "' LD_LIBRARY_PATH='" LOCKSTEP_ONE_GPU "'\n" +
                                     program() + " study '" + file + "' --dry-run --set device=" + device);
    EXPECT_EQ(run.exit_code, 0) << device << run.err;
    EXPECT_THAT(run.out, HasSubstr("cannot run here: strategy 'dp' is refused: PyTorch's DataParallel"));
  }
}

}  // namespace
}  // namespace lockstep::testing
