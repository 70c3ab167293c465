// What can go wrong on a GPU and its slices, through the real program: one clear message, the right exit
// code, in time, and nothing left running (which every test here looks for when it ends).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/cli/program_run.h"
#include "tests/train/runs/gpu_runs.h"
#include "tests/train/runs/started_training.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kSmall =
    "--model lenet5 --data digits --train-samples 400 --validate-every 0 --threads 1 --workers 2 ";
// Hundreds of maps of 32 x 32 for each of 1,024 samples: tens of times 2 GiB.
constexpr const char* kTooLarge =
    "--model resnet18-cifar --data digits --train-samples 2048 --image-size 32 --augment none "
    "--batch-size 1024 --steps 3 --validate-every 0 ";
const Environment kSlowly = {{"LOCKSTEP_DELAY", "compute=25ms"}};

// Lines that are errors of the program's; CUDA's own words may stand inside one.
int errors_in(const std::string& text) {
  return occurrences("\nerror: ", "\n" + text);
}

class GpuFailure : public GpuRuns {
 protected:
  void expect_one_error(const TrainRun& run, int exit_code, const std::string& status) const {
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_EQ(errors_in(run.err), 1) << run.err;
    ASSERT_TRUE(run.record.is_object()) << run.err;
    EXPECT_EQ(run.record.at("status"), status);
  }

  void expect_out_of_memory(const TrainRun& run) const {
    expect_one_error(run, 1, "out_of_memory");
    EXPECT_THAT(run.err, AllOf(HasSubstr("CUDA out of memory"), HasSubstr("were in use by this worker"),
                               HasSubstr("activations"), HasSubstr("the cap"), HasSubstr("--batch-size")));
    EXPECT_EQ(run.record.at("failure").at("kind"), "out_of_memory");
    EXPECT_EQ(run.record.at("failure").at("cap_bytes"), std::uint64_t{2} << 30);
  }

  void expect_the_run_ends_when_killed(int victim, const std::string& backend) const {
    StartedTraining training(store_, kSmall + std::string("--epochs 1000 --backend ") + backend + kSlice,
                             kSlowly);
    ASSERT_TRUE(training.await_steps(5)) << training.error();
    training.signal_rank(victim, SIGKILL);
    const TrainRun run = training.wait(5s);
    EXPECT_TRUE(training.ended_in_time()) << run.err;
    expect_one_error(run, 1, "failed");
    EXPECT_THAT(run.err, HasSubstr("error: rank " + std::to_string(victim) + " was killed"));
    EXPECT_EQ(run.record.at("failure").at("rank"), victim);
    EXPECT_TRUE(comes_true([&] { return training.habitat().inhabitants().empty(); }, 10s));
  }

  // A directory with a program of the service's name that says so much and fails.
  std::string service_that_fails(const std::string& words) const {
    const fs::path program = store_.path() / "bin" / "nvidia-cuda-mps-control";
    fs::create_directories(program.parent_path());
    std::ofstream(program) << "#!/bin/sh\necho '" << words << "' >&2\nexit 1\n";
    fs::permissions(program, fs::perms::owner_all);
    return program.parent_path().string();
  }
};

TEST_F(GpuFailure, AKilledRankOfSlicesOverP2pEndsTheRunAndIsNamed) {
  expect_the_run_ends_when_killed(1, "p2p");
}

// A communicator that a graph holds can be aborted only when the graph is gone: the run must end all the
// same.
TEST_F(GpuFailure, ALossThatIsNotFiniteEndsARunThatRepeatsItsStepOverNccl) {
  const TrainRun run = store_.train(
      kSmall + std::string("--steps 100 --learning-rate 1e30 --graph on --backend nccl") + kSlice, 60);
  expect_one_error(run, 1, "failed");
  EXPECT_THAT(run.err, HasSubstr("training has diverged"));
}

TEST_F(GpuFailure, AKilledRankOfSlicesOverNcclEndsTheRunAndIsNamed) {
  expect_the_run_ends_when_killed(0, "nccl");
}

TEST_F(GpuFailure, ASliceThatIsTooSmallIsOutOfMemory) {
  expect_out_of_memory(
      store_.train(std::string(kTooLarge) + "--workers 2 --backend p2p --device-memory 2GiB" + kSlice));
}

TEST_F(GpuFailure, ACapWithoutSlicesIsOutOfMemoryToo) {
  expect_out_of_memory(
      store_.train(std::string(kTooLarge) + "--workers 1 --device cuda --device-memory 2GiB"));
}

TEST_F(GpuFailure, AServiceThatDoesNotStartIsRefusedWithItsLastWords) {
  const std::string path = service_that_fails("no server for you");
  const TrainRun run =
      store_.train(std::string(kSmall) + "--steps 3" + kSlice, 60, "PATH='" + path + "':$PATH");
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_EQ(errors_in(run.err), 1) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("Multi-Process Service"), HasSubstr("no server for you"),
                             HasSubstr("leave slice_share out")));
}

// The driver's programs are looked for outside of PATH too. There they are covered up, in a file system that
// only the shell's children see.
TEST_F(GpuFailure, AMissingServiceIsRefusedByName) {
  std::string cover;
  for (const char* place : {"/usr/bin", "/usr/local/nvidia/bin"})
    if (const fs::path program = fs::path(place) / "nvidia-cuda-mps-control"; fs::exists(program))
      cover += "mount --bind /dev/null '" + program.string() + "' || exit 77\n";
  const std::string script = cover + "PATH=/nowhere " + program() + " train " + kSmall + "--steps 3" +
                             kSlice + "--progress none --store '" + store_.path().string() + "'";
  const ProgramRun run =
      run_shell(cover.empty() ? script : "unshare --mount sh <<'END'\n" + script + "\nEND", 60);
  if (!cover.empty() && (run.exit_code == 77 || run.err.find("unshare") != std::string::npos))
    GTEST_SKIP() << "this kernel does not let a test hide a program: " << run.err;
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("nvidia-cuda-mps-control is not installed"),
                             HasSubstr("leave slice_share out")));
}

}  // namespace
}  // namespace lockstep::testing
