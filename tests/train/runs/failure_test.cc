// What can go wrong while training, through the real program: one clear message, the right exit code, in
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/cli/program_run.h"
#include "tests/train/runs/started_training.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kSmall =
    "--model lenet5 --data digits --train-samples 400 --val-samples 40 --threads 1 --workers 2 ";
const Environment kSlowly = {{"LOCKSTEP_DELAY", "compute=25ms"}};

class Failure : public ::testing::Test {
 protected:
  void expect_one_error(const TrainRun& run, int exit_code, const std::string& status) const {
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
    ASSERT_TRUE(run.record.is_object()) << run.err;
    EXPECT_EQ(run.record.at("status"), status);
  }
  TrainStore store_;
};

TEST_F(Failure, ALossThatIsNotANumberNamesTheStepAndWhatToTry) {
  for (const std::string workers : {"1", "2"}) {
    const TrainRun run = store_.train(
        "--model lenet5 --data digits --train-samples 400 --learning-rate 1e6 "
        "--steps 50 --validate-every 0 --workers " +
        workers);
    expect_one_error(run, 1, "failed");
    EXPECT_THAT(run.err, AllOf(ContainsRegex("the loss of step [0-9]+ is (nan|-?inf)"),
                               HasSubstr("--learning-rate"), HasSubstr("--clip-norm")));
    // The step that is named is the one after the last whose loss was finite.
    const std::string named = "step " + std::to_string(run.losses().size() + 1) + " is";
    EXPECT_THAT(run.err, HasSubstr(named));
  }
}

TEST_F(Failure, ACapTooSmallIsOutOfMemoryAndSaysWhatWouldHelp) {
  const TrainRun run = store_.train(std::string(kSmall) + "--steps 5 --batch-size 64 --device-memory 2MiB");
  expect_one_error(run, 1, "out_of_memory");
  EXPECT_THAT(run.err, AllOf(HasSubstr("out of memory: "), HasSubstr("2.00 MiB"), HasSubstr("are in use"),
                             HasSubstr("--batch-size"), HasSubstr("--device-memory")));
  EXPECT_EQ(run.record.at("failure").at("kind"), "out_of_memory");
}

TEST_F(Failure, ACapThatNoBatchFitsIntoIsSaidWithTheLeastThatWouldDo) {
  const TrainRun run = store_.train(std::string(kSmall) + "--steps 5 --device-memory 1");
  expect_one_error(run, 1, "out_of_memory");
  EXPECT_THAT(run.err, AllOf(HasSubstr("No batch fits"), Not(HasSubstr("--batch-size"))));
  const std::size_t at = run.err.find("--device-memory ");
  ASSERT_NE(at, std::string::npos) << run.err;
  const std::string advice = run.err.substr(at, run.err.find(" for a batch of 1") - at);
  const TrainRun followed = store_.train(std::string(kSmall) + "--steps 5 --batch-size 1 " + advice);
  EXPECT_EQ(followed.exit_code, 0) << advice << "\n" << followed.err;
}

TEST_F(Failure, ReplicasThatDivergeAreNoticedAndTheRankIsNamed) {
  const TrainRun run =
      store_.train(std::string(kSmall) + "--workers 3 --steps 30 --check-every 2", 120, "LOCKSTEP_FLIP=7@2");
  expect_one_error(run, 6, "failed");
  EXPECT_THAT(run.err, HasSubstr("after step 8 the parameters of rank 2 are not those of rank 0"));
  EXPECT_EQ(run.record.at("failure").at("kind"), "verification");
}

class FailureOver : public Failure, public ::testing::WithParamInterface<std::string> {};

TEST_P(FailureOver, AKilledRankEndsTheRunWithinTwoSecondsAndIsNamed) {
  for (const int victim : {0, 1}) {
    StartedTraining training(store_, kSmall + ("--epochs 100 --backend " + GetParam()), kSlowly);
    ASSERT_TRUE(training.await_steps(5)) << training.error();
    training.signal_rank(victim, SIGKILL);
    const TrainRun run = training.wait(2s);
    EXPECT_TRUE(training.ended_in_time()) << run.err;
    expect_one_error(run, 1, "failed");
    EXPECT_THAT(run.err, HasSubstr("error: rank " + std::to_string(victim) + " was killed"));
    EXPECT_EQ(run.record.at("failure").at("rank"), victim);
  }
}

// 400 samples in batches of twice 32 are 7 steps an epoch.
TEST_F(Failure, AKilledRunKeepsWhatItsEpochsMovedAndTook) {
  StartedTraining training(store_, kSmall + std::string("--epochs 100 --batch-size 32"), kSlowly);
  ASSERT_TRUE(training.await_steps(17)) << training.error();
  training.signal_rank(1, SIGKILL);
  const TrainRun run = training.wait(2s);
  expect_one_error(run, 1, "failed");
  EXPECT_FALSE(run.record.at("ledger").empty());
  EXPECT_GT(run.record.at("memory").at("peak_bytes"), 0);
  EXPECT_GT(run.record.at("wall_seconds").at("load"), 0.0);
  EXPECT_GT(run.record.at("wall_seconds").at("train"), 0.0);
}

TEST_P(FailureOver, AStoppedRankEndsTheRunAtTheTimeoutAndIsNamed) {
  StartedTraining training(store_, kSmall + ("--epochs 100 --timeout 1s --backend " + GetParam()), kSlowly);
  ASSERT_TRUE(training.await_steps(5)) << training.error();
  training.signal_rank(1, SIGSTOP);
  const TrainRun run = training.wait(8s);
  EXPECT_TRUE(training.ended_in_time()) << run.err;
  expect_one_error(run, 124, "failed");
  EXPECT_THAT(run.err, HasSubstr("error: rank 1 does not answer (stopped"));
}

INSTANTIATE_TEST_SUITE_P(Backends, FailureOver, ::testing::Values("shm", "gloo", "mpi"),
                         [](const auto& backend) { return backend.param; });

TEST_F(Failure, RanksThatWereStartedWithDifferentSpecsAreToldSo) {
  const std::string rank = "WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port()) +
                           " " + program() + " train --data digits --model lenet5 --steps 3 --store '" +
                           store_.path().string() + "' ";
  const ProgramRun run = run_shell("RANK=1 " + rank + "--batch-size 16 & other=$!\nRANK=0 " + rank +
                                   "--batch-size 8; code=$?\nwait $other; echo $code $?");
  EXPECT_THAT(run.out, ::testing::EndsWith("3 3\n"));
  EXPECT_THAT(run.err, HasSubstr("rank 1 was started with another spec than rank 0: batch_size is 16"));
}

TEST_F(Failure, WeightsThatDoNotFitTheModelAreRefusedByName) {
  const std::string weights = (store_.path() / "w.safetensors").string();
  ASSERT_EQ(store_.train(std::string(kSmall) + "--steps 1 --validate-every 0 --export-weights " + weights)
                .exit_code,
            0);
  const TrainRun run = store_.train("--model vit --data digits --steps 1 --weights " + weights);
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err, ContainsRegex("do not fit model 'vit': missing: .* more; unknown: .* more\\."));
}

TEST_F(Failure, WeightsWithBytesThatAreNoTextEndTheRunWithOneMessage) {
  const fs::path weights = store_.path() / "w.safetensors";
  const std::string header = "{\"a\xb8\": 1}";
  std::ofstream(weights, std::ios::binary)
      << static_cast<char>(header.size()) << std::string(7, '\0') << header;
  const TrainRun run = store_.train(std::string(kSmall) + "--steps 1 --weights " + weights.string());
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("of its header is not JSON in UTF-8"));
  EXPECT_THAT(run.err, ::testing::Not(HasSubstr("terminate called")));
}

// A file system of its own, seen by the shell's children only, that has room for one checkpoint.
TEST_F(Failure, AFullDiskWhileCheckpointingKeepsTheCheckpointBefore) {
  if (geteuid() != 0)
    GTEST_SKIP()
        << "a small file system can be mounted by root only; the limit of file sizes is tested below";
  const std::string disk = (store_.path() / "disk").string();
  fs::create_directory(disk);
  const std::string script = "mount -t tmpfs -o size=900k none '" + disk + "' || exit 77\n" + program() +
                             " train " + kSmall +
                             "--epochs 4 --checkpoint-epochs 1 --progress none --store '" + disk +
                             "'; code=$?\n" + "ls '" + disk + "'/runs/*/checkpoints/step-*/* >&2\nexit $code";
  const ProgramRun run = run_shell("unshare --mount sh <<'END'\n" + script + "\nEND", 120);
  if (run.exit_code == 77) GTEST_SKIP() << "this kernel does not let a test mount a file system: " << run.err;
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("no room"), HasSubstr("step-00000007/manifest.json")));
}

TEST_F(Failure, WeightsThatFindNoRoomAreKeptWithTheRun) {
  if (geteuid() != 0) GTEST_SKIP() << "a small file system can be mounted by root only";
  const std::string disk = (store_.path() / "disk").string();
  fs::create_directory(disk);
  const std::string script =
      "mount -t tmpfs -o size=8k none '" + disk + "' || exit 77\n" + program() +
      " train --model lenet5 --data digits --train-samples 400 --steps 2 --progress none " +
      "--export-weights '" + disk + "/w.safetensors' --store '" + store_.path().string() +
      "'; code=$?\nls '" + disk + "' >&2\nexit $code";
  const ProgramRun run = run_shell("unshare --mount sh <<'END'\n" + script + "\nEND", 120);
  if (run.exit_code == 77) GTEST_SKIP() << "this kernel does not let a test mount a file system: " << run.err;
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("No space left"), HasSubstr("They are kept in"), Not(HasSubstr("partial"))));
  const fs::path kept = fs::directory_iterator(store_.path() / "runs")->path() / "weights.safetensors";
  EXPECT_GT(fs::file_size(kept), 61706u * 4);
}

TEST_F(Failure, ATraceThatFindsNoRoomIsAnErrorAndCostsNothingElse) {
  const std::string full = (store_.path() / "full").string();  // is there, and takes nothing
  fs::create_symlink("/dev/full", full);
  const TrainRun run =
      store_.train("--model lenet5 --data digits --train-samples 400 --steps 4 --trace '" + full + "'");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the trace was not written"));
  EXPECT_EQ(run.record.at("failure").at("kind"), "store");
  EXPECT_EQ(run.losses().size(), 4u);
  EXPECT_TRUE(run.record.at("wall_seconds").contains("train"));
}

TEST_F(Failure, AFileThatMayNotGrowWhileCheckpointingIsAnErrorToo) {
  const TrainRun run = store_.train(  // one worker: the limit holds for shared memory too
      "--model lenet5 --data digits --train-samples 400 --epochs 2 --checkpoint-epochs 1", 120,
      "ulimit -f 300;");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("no room"));
}

}  // namespace
}  // namespace lockstep::testing
