// Real workers under somebody else's launcher.
#include <gtest/gtest.h>

#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr const char* kMpirun = "mpirun --allow-run-as-root --oversubscribe -n 2";

TEST(UnderMpirun, TrainingEndsWellOverEveryBackend) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "there is no mpirun here";
  const TrainStore store;
  for (const std::string backend : {"mpi", "gloo", "shm"}) {
    const TrainRun run = store.train(
        "--data digits --train-samples 320 --steps 8 --threads 1 --backend " + backend, 120, kMpirun);
    EXPECT_EQ(run.exit_code, 0) << backend << "\n" << run.err;
    EXPECT_EQ(run.record.at("status"), "finished");
    EXPECT_EQ(run.record.at("workers"), 2);
  }
}

}  // namespace
}  // namespace lockstep::testing
