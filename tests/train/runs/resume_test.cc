// A run that was ended by force goes on as if nothing had happened: the same weights, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <random>

#include "tests/cli/program_run.h"
#include "tests/support/ranks.h"
#include "tests/train/runs/started_training.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct Case {
  std::string name;
  std::string flags;
};

// What has state that a resumed run must get back: momentum and moments, a schedule, statistics that are
// shared or each worker's own, random numbers of augmentation and dropout, accumulated gradients.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"cosine_momentum_augmentation_over_shm",
       "--model lenet5 --backend shm --schedule cosine --nesterov true --weight-decay 0.001 --augment "
       "crop-flip"},
      {"adam_warmup_clipping_over_gloo",
       "--model lenet5 --backend gloo --optimizer adam --learning-rate 0.001 --warmup-epochs 2 --clip-norm 1 "
       "--accumulate 2"},
      {"dropout_over_gloo", "--model squeezenet1_0 --image-size 32 --backend gloo --learning-rate 0.001"},
      {"buffers_of_rank_0_over_gloo",
       "--model resnet18-cifar --model-options width=8 --image-size 16 --buffers broadcast --backend gloo "
       "--schedule step --schedule-epochs 2"},
      {"buffers_of_each_worker_over_shm",
       "--model resnet18-cifar --model-options width=8 --image-size 16 --buffers local --backend shm "
       "--augment crop"},
      {"workers_that_step_alone_over_shm",
       "--model lenet5 --backend shm --strategy localsgd --local-steps 7 --learning-rate 0.005"},
      {"zero1_adam_clipping_over_gloo",
       "--model lenet5 --strategy zero1 --backend gloo --optimizer adam --learning-rate 0.001 --clip-norm 1"},
      {"zero3_adam_of_three_workers_over_shm",
       "--model lenet5 --strategy zero3 --backend shm --workers 3 --optimizer adam --learning-rate 0.001 "
       "--clip-norm 1"},
      {"zero3_buffers_of_each_worker_recomputed_over_gloo",
       "--model resnet18-cifar --model-options width=8 --image-size 16 --strategy zero3 --buffers local "
       "--backend gloo --recompute true"},
      {"three_workers_over_shm", "--model lenet5 --backend shm --workers 3 --overlap on"},
  };
  return all;
}

constexpr int kStepsPerEpoch = 10;
constexpr int kEpochs = 8;
constexpr int kSteps = kStepsPerEpoch * kEpochs;

// 10 steps an epoch; the last of each has 5 samples, so that workers have unequal parts.
std::string common(int epochs = kEpochs) {
  return " --data digits --train-samples 221 --val-samples 50 --global-batch 24 --threads 1 --check-every 1 "
         "--epochs " +
         std::to_string(epochs) + " ";
}

std::string workers_of(const std::string& flags) {
  return flags.find("--workers") == std::string::npos ? " --workers 2 " : " ";
}

// Slow enough for a test to hit a step in its middle.
const Environment kSlowly = {{"LOCKSTEP_DELAY", "compute=25ms"}};

class Resume : public ::testing::Test {
 protected:
  fs::path weights(const std::string& name) const { return store_.path() / (name + ".safetensors"); }
  std::string exporting(const std::string& name) const {
    return " --export-weights " + weights(name).string() + " ";
  }
  void expect_same_weights(const std::string& one, const std::string& other) const {
    EXPECT_TRUE(fs::exists(weights(one)) && fs::exists(weights(other)));
    EXPECT_EQ(run_shell("cmp '" + weights(one).string() + "' '" + weights(other).string() + "'").exit_code,
              0);
  }
  // Starts, and kills one rank after a random step, but not before there is a checkpoint; its directory. Far
  // from the end: a test may be slow to notice.
  fs::path run_and_kill(const std::string& flags, std::mt19937& random) const {
    StartedTraining training(store_, flags + " --checkpoint-time 150ms", kSlowly);
    const int steps = std::uniform_int_distribution<int>(1, kSteps / 5)(random);
    EXPECT_TRUE(training.await_checkpoints(1) && training.await_steps(steps)) << training.error();
    training.signal_rank(static_cast<int>(random() % 2), SIGKILL);
    const TrainRun run = training.wait(20s);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    return run.directory;
  }

  TrainStore store_;
};

class ResumeAfterKill : public Resume, public ::testing::WithParamInterface<Case> {};

// Killed twice, at steps that a seed chooses: another for each case, several with the full matrix.
TEST_P(ResumeAfterKill, EndsWithTheWeightsOfARunThatWasNeverKilled) {
  const std::string flags = GetParam().flags + workers_of(GetParam().flags) + common();
  const TrainRun whole = store_.train(flags + exporting("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const auto first_seed = static_cast<unsigned>(GetParam().name.size());
  for (unsigned seed = first_seed; seed < first_seed + (full_matrix() ? 5 : 1); ++seed) {
    std::mt19937 random(seed);
    const fs::path first = run_and_kill(flags, random);
    const fs::path second = run_and_kill(flags + " --resume " + first.string(), random);
    const TrainRun resumed = store_.train(flags + exporting("resumed") + " --resume " + second.string());
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    expect_same_weights("whole", "resumed");
    for (const char* figure : {"train_loss", "val_loss"})
      EXPECT_EQ(resumed.record.at("epochs").back().at(figure), whole.record.at("epochs").back().at(figure));
    fs::remove(weights("resumed"));
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, ResumeAfterKill, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

TEST_F(Resume, AfterSigtermGoesOnFromTheCheckpointThatWasWrittenThen) {
  const std::string flags = cases().front().flags + " --workers 2" + common();
  ASSERT_EQ(store_.train(flags + exporting("whole")).exit_code, 0);
  StartedTraining training(store_, flags, kSlowly);
  ASSERT_TRUE(training.await_steps(17)) << training.error();
  training.signal_launcher(SIGTERM);
  const TrainRun interrupted = training.wait(10s);
  EXPECT_EQ(interrupted.exit_code, 128 + SIGTERM) << interrupted.err;
  EXPECT_EQ(interrupted.record.at("status"), "interrupted");
  EXPECT_GT(interrupted.record.at("wall_seconds").at("train"), 0.0);
  EXPECT_THAT(interrupted.record.at("failure").at("message").get<std::string>(),
              ::testing::EndsWith("the same command with --resume " + interrupted.directory.string()));
  const TrainRun resumed =
      store_.train(flags + exporting("resumed") + " --resume " + interrupted.directory.string());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  // Not one step was done twice.
  EXPECT_EQ(interrupted.losses().size() + resumed.losses().size(), static_cast<std::size_t>(kSteps));
  expect_same_weights("whole", "resumed");
}

TEST_F(Resume, WithMoreEpochsIsTheLongerRun) {
  const std::string flags = "--model lenet5 --workers 2 --checkpoint-epochs 1";
  ASSERT_EQ(store_.train(flags + common(4) + exporting("long")).exit_code, 0);
  const TrainRun brief = store_.train(flags + common(2));
  ASSERT_EQ(brief.exit_code, 0) << brief.err;
  const TrainRun more =
      store_.train(flags + common(4) + exporting("resumed") + " --resume " + brief.directory.string());
  ASSERT_EQ(more.exit_code, 0) << more.err;
  expect_same_weights("long", "resumed");
}

TEST_F(Resume, WithAnotherSpecIsRefusedAndTheFieldNamed) {
  const std::string flags = "--model lenet5 --workers 2 --checkpoint-epochs 1";
  const TrainRun first = store_.train(flags + common(1));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string resume = " --resume " + first.directory.string();
  const TrainRun rate = store_.train(flags + common(2) + "--learning-rate 0.5" + resume);
  EXPECT_EQ(rate.exit_code, 3);
  EXPECT_THAT(rate.err, HasSubstr("learning_rate is 0.5 here and 0.01 in the checkpoint"));
  EXPECT_EQ(occurrences("error: ", rate.err), 1) << rate.err;
  const TrainRun alone = store_.train("--model lenet5 --checkpoint-epochs 1" + common(2) + resume);
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.err, HasSubstr("workers is 1 here and 2 in the checkpoint"));
}

TEST_F(Resume, FromNothingIsRefused) {
  const TrainRun run = store_.train("--model lenet5" + common() + "--resume " + store_.path().string());
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("holds no checkpoint that was finished"));
}

// Every single byte is tried in checkpoint_damage_test; here, that the program then takes the one before.
TEST_F(Resume, FromACheckpointThatWasCutUsesTheOneBefore) {
  const std::string flags = "--model lenet5 --workers 2 --checkpoint-epochs 1" + common(3);
  const TrainRun whole = store_.train(flags + exporting("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const fs::path newest = whole.directory / "checkpoints" / "step-00000030";
  ASSERT_TRUE(fs::exists(newest));
  for (const auto& file : fs::directory_iterator(newest)) {
    const fs::path backup = store_.path() / "backup";
    fs::copy_file(file, backup, fs::copy_options::overwrite_existing);
    for (const std::uintmax_t cut : {file.file_size() / 2, file.file_size() - 1}) {
      fs::resize_file(file, cut);
      const TrainRun resumed =
          store_.train(flags + exporting("resumed") + " --resume " + whole.directory.string());
      ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
      EXPECT_EQ(resumed.losses().size(), 10u) << "from step 20";
      EXPECT_THAT(resumed.record.at("warnings").dump(),
                  HasSubstr("a newer checkpoint was refused: step-00000030"));
      EXPECT_THAT(resumed.err, HasSubstr("warning: a newer checkpoint was refused: step-00000030"));
      expect_same_weights("whole", "resumed");
      fs::copy_file(backup, file, fs::copy_options::overwrite_existing);
    }
  }
}

}  // namespace
}  // namespace lockstep::testing
