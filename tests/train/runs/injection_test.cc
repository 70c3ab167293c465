// The split of a step, proven by injection: a delay that is put in one place appears in that place's column,
// by as much as was put in, and nowhere else. What is compared are medians over steps, with and without the
// delay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lockstep/base/statistics.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr double kDelay = 0.050;
constexpr double kTolerance = 0.05 * kDelay;

using Figure = std::function<double(const record::StepEvent&)>;

const Figure kData = [](const record::StepEvent& step) { return step.split_seconds->data.value(); };
const Figure kForward = [](const record::StepEvent& step) { return step.split_seconds->forward.value(); };
const Figure kBackward = [](const record::StepEvent& step) { return step.split_seconds->backward.value(); };
const Figure kExposed = [](const record::StepEvent& step) {
  return step.split_seconds->exposed_comm.value();
};
const Figure kOptimizer = [](const record::StepEvent& step) { return step.split_seconds->optimizer.value(); };
const Figure kBusy = [](const record::StepEvent& step) { return step.busy_seconds.value(); };
const Figure kPeerWait = [](const record::StepEvent& step) { return step.peer_wait_seconds.value(); };

double median_of(const TrainRun& run, int rank, const Figure& figure) {
  std::vector<double> values;
  for (const record::Event& event : run.events(rank)) {
    const auto* step = std::get_if<record::StepEvent>(&event.body);
    if (step != nullptr && !step->warmup.value_or(false)) values.push_back(figure(*step));
  }
  return values.empty() ? std::nan("") : base::median(values);
}

// A small model: its own times are a small part of the delay, and so is their noise.
constexpr const char* kQuick =
    "--model lenet5 --workers 2 --threads 1 --loader-threads 0 --steps 40 --skip-steps 8 --batch-size 8 "
    "--validate-every 0 --check-every 0 ";

class Injection : public ::testing::Test {
 protected:
  TrainRun with(const std::string& delay, const std::string& flags) const {
    const std::string environment = delay.empty() ? "" : "LOCKSTEP_DELAY=" + delay;
    TrainRun run = store_.train(flags, 240, environment);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run;
  }
  TrainStore store_;
};

TEST_F(Injection, ADelayInTheLoaderIsWaitingForData) {
  const TrainRun plain = with("", kQuick);
  const TrainRun delayed = with("loader=50ms", kQuick);
  for (const int rank : {0, 1}) {
    EXPECT_NEAR(median_of(delayed, rank, kData) - median_of(plain, rank, kData), kDelay, kTolerance);
    for (const Figure& other : {kForward, kBackward, kOptimizer})
      EXPECT_NEAR(median_of(delayed, rank, other), median_of(plain, rank, other), kTolerance);
  }
}

TEST_F(Injection, ADelayInOneRanksComputeIsItsForwardAndTheOthersWait) {
  for (const std::string overlap : {"on", "off"}) {
    const std::string flags = kQuick + ("--overlap " + overlap);
    const TrainRun plain = with("", flags);
    const TrainRun delayed = with("compute=50ms@1", flags);
    const auto more = [&](int rank, const Figure& figure) {
      return median_of(delayed, rank, figure) - median_of(plain, rank, figure);
    };
    EXPECT_NEAR(more(1, kForward), kDelay, kTolerance);
    EXPECT_NEAR(more(1, kExposed), 0, kTolerance);
    EXPECT_NEAR(more(0, kForward), 0, kTolerance);
    EXPECT_NEAR(more(0, kExposed), kDelay, kTolerance);
    EXPECT_NEAR(more(0, kPeerWait), kDelay, kTolerance);
    EXPECT_NEAR(more(1, kPeerWait), 0, kTolerance);
    EXPECT_GT(delayed.record.at("comm").at("peer_wait_seconds").get<double>(), kDelay / 2);
  }
}

// One bucket: the delay comes once a step.
TEST_F(Injection, ADelayInTheLinkIsExposedCommunication) {
  const std::string flags = std::string(kQuick) + "--first-bucket-bytes 16M --overlap off";
  const TrainRun plain = with("", flags);
  const TrainRun delayed = with("link=50ms", flags);
  for (const int rank : {0, 1}) {
    const auto more = [&](const Figure& figure) {
      return median_of(delayed, rank, figure) - median_of(plain, rank, figure);
    };
    EXPECT_NEAR(more(kExposed), kDelay, kTolerance);
    EXPECT_NEAR(more(kBusy), kDelay, kTolerance);
    EXPECT_NEAR(more(kBackward), 0, kTolerance);
  }
}

// Backward goes on for longer than the first bucket is late. The bound leaves room for noise: the delay that
// would show is far above it.
TEST_F(Injection, ALateFirstBucketIsHiddenByTheRestOfBackward) {
  const std::string flags =
      "--model resnet18-cifar --model-options width=16 --data digits --train-samples 4000 --image-size 32 "
      "--augment none --workers 2 --threads 1 --steps 24 --skip-steps 6 --batch-size 32 --buffers local "
      "--validate-every 0 --check-every 0 --overlap on --first-bucket-bytes 256K --bucket-bytes 64M";
  const TrainRun plain = with("", flags);
  const double backward = median_of(plain, 0, kBackward);
  const double delay = std::min(kDelay, backward / 3);
  ASSERT_GT(delay, 0.010) << "backward is too short to hide anything: " << backward << " s";
  const TrainRun delayed = with("first-bucket=" + std::to_string(delay), flags);
  const double more = median_of(delayed, 0, kExposed) - median_of(plain, 0, kExposed);
  EXPECT_LT(more, delay / 2) << "of a delay of " << delay << " s";
  EXPECT_GT(median_of(delayed, 0, kBusy) - median_of(plain, 0, kBusy), delay / 2);
  const double hidden = delayed.record.at("comm").at("hidden_fraction");
  EXPECT_GE(hidden, 0);
  EXPECT_LE(hidden, 1);
}

TEST_F(Injection, TheSpansAndOtherMakeUpTheStep) {
  const TrainRun run = with("loader=5ms@0,compute=5ms@1", kQuick);
  for (const int rank : {0, 1}) {
    for (const record::Event& event : run.events(rank)) {
      const auto* step = std::get_if<record::StepEvent>(&event.body);
      if (step == nullptr) continue;
      const record::SplitSeconds& split = step->split_seconds.value();
      double sum = 0;
      for (const auto& part : {split.data, split.input, split.forward, split.backward, split.exposed_comm,
                               split.optimizer, split.other})
        sum += part.value();
      EXPECT_NEAR(sum, step->seconds, 1e-9);
      EXPECT_GE(split.other.value(), 0);
      EXPECT_NEAR(split.exposed_comm.value(), step->exposed_seconds.value(), 1e-12);
    }
  }
}

TEST_F(Injection, AMisspeltDelayIsRefused) {
  const TrainRun run =
      store_.train("--model lenet5 --data digits --steps 1", 60, "LOCKSTEP_DELAY=lodaer=5ms");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, ::testing::HasSubstr("LOCKSTEP_DELAY is 'lodaer=5ms'"));
}

}  // namespace
}  // namespace lockstep::testing
