// A run of dp as people meet it: one process, N replicas in its record, its own figures, and its failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cli/program_run.h"
#include "tests/train/runs/started_training.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kSmall =
    "--model lenet5 --data digits --train-samples 400 --val-samples 40 --threads 1 --strategy dp ";

class DpRun : public ::testing::Test {
 protected:
  TrainRun train(const std::string& flags, const std::string& environment = "") const {
    return store_.train(kSmall + flags, 120, environment);
  }
  void expect_one_error(const TrainRun& run, int exit_code, const std::string& status) const {
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_EQ(occurrences("error: ", run.err), 1) << run.err;
    ASSERT_TRUE(run.record.is_object()) << run.err;
    EXPECT_EQ(run.record.at("status"), status);
  }
  TrainStore store_;
};

TEST_F(DpRun, IsOneProcessWhoseRecordHasEveryReplicaAsARank) {
  const TrainRun run = train("--workers 3 --steps 12 --global-batch 32 --validate-every 0");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.record.at("status"), "finished");
  EXPECT_EQ(run.record.at("workers"), 3);
  EXPECT_EQ(run.record.at("batch").at("global"), 32);
  const auto& ranks = run.record.at("per_rank");
  ASSERT_EQ(ranks.size(), 3u);
  for (const auto& rank : ranks) {
    EXPECT_GT(rank.at("peak_bytes").get<std::uint64_t>(), 0u);
    EXPECT_GT(rank.at("split_seconds").at("forward").get<double>(), 0.0);
    EXPECT_GT(rank.at("split_seconds").at("backward").get<double>(), 0.0);
    EXPECT_GT(rank.at("primitives_seconds").at("apply").get<double>(), 0.0);
  }
  // The rows of a step, as they were shared out.
  std::vector<std::int64_t> samples;
  for (int rank = 0; rank < 3; ++rank) {
    for (const record::Event& event : run.events(rank)) {
      const auto* step = std::get_if<record::StepEvent>(&event.body);
      if (step == nullptr) continue;
      samples.push_back(step->samples);
      break;
    }
  }
  EXPECT_EQ(samples, (std::vector<std::int64_t>{11, 11, 10}));
}

TEST_F(DpRun, MeasuresEachPrimitiveApartAndLeavesNoGap) {
  const TrainRun run = train("--workers 2 --steps 30 --validate-every 0 --batch-size 64");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& steps = run.record.at("steps");
  double primitives = 0;
  for (const char* name : {"replicate", "scatter", "apply", "gather", "reduce"}) {
    const double seconds = steps.at("primitives_seconds").at(name).get<double>();
    EXPECT_GT(seconds, 0.0) << name;
    primitives += seconds;
  }
  EXPECT_LE(primitives, steps.at("seconds").at("mean").get<double>());
  const auto& exposed = run.record.at("comm").at("exposed_by_purpose");
  for (const char* purpose : {"parameter", "input", "output", "gradient"})
    EXPECT_GT(exposed.at(purpose).get<double>(), 0.0) << purpose;
}

// The replica that is slow computes longer; the first waits for its outputs.
TEST_F(DpRun, ADelayInOneReplicaAppearsInItsApplyAndInTheGatherOfTheFirst) {
  const TrainRun run = train("--workers 2 --steps 16 --validate-every 0", "LOCKSTEP_DELAY=compute=50ms@1");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& ranks = run.record.at("per_rank");
  const auto& slow = ranks[1].at("primitives_seconds");
  const auto& first = ranks[0].at("primitives_seconds");
  EXPECT_GT(slow.at("apply").get<double>(), 0.050);
  EXPECT_GT(ranks[1].at("split_seconds").at("forward").get<double>(), 0.050);
  // However long the first computes itself, it has not gathered before the other has slept.
  EXPECT_GT(first.at("apply").get<double>() + first.at("gather").get<double>(), 0.049);
  EXPECT_GT(first.at("gather").get<double>(), 0.0);
}

TEST_F(DpRun, ShowsThePrimitivesInItsSummary) {
  const ProgramRun run = run_shell(program() + " train " + kSmall +
                                   "--workers 2 --steps 8 --validate-every 0 --progress none --store '" +
                                   store_.path().string() + "'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("primitive"), HasSubstr("replicate"), HasSubstr("gather")));
}

TEST_F(DpRun, CountsMemoryForEachReplicaWithTheFirstHoldingMost) {
  const TrainRun run = train("--workers 3 --steps 4 --validate-every 0 --global-batch 48");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto& ranks = run.record.at("per_rank");
  constexpr std::uint64_t kParameterBytes = 61706 * 4;
  const auto peak = [&](std::size_t rank) { return ranks[rank].at("peak_bytes").get<std::uint64_t>(); };
  EXPECT_GE(peak(1), 2 * kParameterBytes);  // parameters and gradients
  EXPECT_EQ(peak(1), peak(2));
  EXPECT_GE(peak(0), peak(1) + 2 * kParameterBytes);  // originals and optimiser state besides
  EXPECT_EQ(run.record.at("memory").at("peak_bytes"), peak(0));
  const TrainRun originals =
      train("--workers 3 --steps 4 --validate-every 0 --global-batch 48 --keep-originals");
  ASSERT_EQ(originals.exit_code, 0) << originals.err;
  EXPECT_EQ(originals.record.at("per_rank")[0].at("peak_bytes").get<std::uint64_t>() + kParameterBytes,
            peak(0));
}

TEST_F(DpRun, ACapTooSmallIsOutOfMemoryAndNamesTheReplica) {
  const TrainRun run = train("--workers 2 --steps 5 --batch-size 64 --prefetch 1 --device-memory 3MiB");
  expect_one_error(run, 1, "out_of_memory");
  EXPECT_THAT(run.err, AllOf(HasSubstr("replica "), HasSubstr("out of memory: "), HasSubstr("3.00 MiB"),
                             HasSubstr("--batch-size")));
}

TEST_F(DpRun, AReplicaThatDoesNotAnswerEndsTheRunAtTheTimeout) {
  const TrainRun run =
      train("--workers 2 --steps 5 --timeout 1s --validate-every 0", "LOCKSTEP_DELAY=compute=4s@1");
  expect_one_error(run, 124, "failed");
  EXPECT_THAT(run.err, AllOf(HasSubstr("timed out"), HasSubstr("rank 1"), HasSubstr("--timeout")));
}

TEST_F(DpRun, OtherBackendsAndMeaninglessOptionsAreRefusedByName) {
  for (const std::string backend : {"shm", "gloo", "mpi"}) {
    const TrainRun run = train("--workers 2 --backend " + backend);
    EXPECT_EQ(run.exit_code, 3) << run.err;
    EXPECT_THAT(run.err,
                AllOf(HasSubstr("backend '" + backend + "' is refused"), HasSubstr("backend local")));
  }
  for (const std::string flags : {"--buffers local", "--buffers average", "--overlap on"})
    EXPECT_EQ(train("--workers 2 " + flags).exit_code, 3) << flags;
  const TrainRun switched = store_.train("--model lenet5 --data digits --workers 2 --keep-originals");
  EXPECT_EQ(switched.exit_code, 3);
  EXPECT_THAT(switched.err, HasSubstr("switch of strategy dp"));
}

TEST_F(DpRun, ResumesFromACheckpointWithTheSameBits) {
  const std::string flags =
      "--model resnet18-cifar --model-options width=4 --image-size 16 --data digits --train-samples 60 "
      "--val-samples 20 --global-batch 12 --threads 1 --strategy dp --workers 3 --augment crop ";
  const auto weights = [&](const char* name) { return (store_.path() / name).string(); };
  ASSERT_EQ(store_.train(flags + "--epochs 4 --export-weights " + weights("whole")).exit_code, 0);
  const TrainRun half = store_.train(flags + "--epochs 2 --checkpoint-epochs 2");
  ASSERT_EQ(half.exit_code, 0) << half.err;
  const TrainRun rest =
      store_.train(flags + "--epochs 4 --resume '" + (half.directory / "checkpoints").string() +
                   "' --export-weights " + weights("resumed"));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(run_shell("cmp '" + weights("whole") + "' '" + weights("resumed") + "'").exit_code, 0);
}

TEST_F(DpRun, AnInterruptionLeavesACheckpoint) {
  StartedTraining training(store_, std::string(kSmall) + "--workers 2 --epochs 200",
                           {{"LOCKSTEP_DELAY", "compute=25ms"}});
  ASSERT_TRUE(training.await_steps(5)) << training.error();
  training.signal_launcher(SIGINT);
  const TrainRun run = training.wait(20s);
  EXPECT_TRUE(training.ended_in_time()) << run.err;
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(run.record.at("status"), "interrupted");
  EXPECT_TRUE(std::filesystem::exists(run.directory / "checkpoints"));
}

}  // namespace
}  // namespace lockstep::testing
