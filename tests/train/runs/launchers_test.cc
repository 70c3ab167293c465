// Real workers under somebody else's launcher.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

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

TEST(RanksByHand, OneThatNeverArrivesEndsTheRunAtTheJoinTimeout) {
  const TrainStore store;
  const auto start = std::chrono::steady_clock::now();
  const TrainRun run = store.train(
      "--data digits --steps 3 --rank 0 --world 2 --master-addr 127.0.0.1 --master-port 29521 --join-timeout "
      "2s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(7));
  EXPECT_EQ(run.exit_code, 124) << run.err;
  EXPECT_EQ(run.record.at("failure").at("rank"), 1);
  EXPECT_EQ(run.record.at("failure").at("kind"), "timed_out");
}

TEST(RanksByHand, OnLoopbackShareTheCores) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--data digits --train-samples 320 --steps 8", 120,
      "env WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29522 sh -c 'RANK=1 \"$@\" > /dev/null & RANK=0 "
      "\"$@\"; code=$?; wait; exit $code' ranks");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int cores = run.record.at("machine").at("cores");
  EXPECT_LE(2 * run.record.at("threads").get<int>(), std::max(2, cores));
  EXPECT_EQ(run.record.contains("oversubscribed"), cores < 2);
}

}  // namespace
}  // namespace lockstep::testing
