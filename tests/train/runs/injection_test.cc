// The split of a step, proven by injection: a delay that is put in one place appears in that place's column,
// by as much as was put in, and nowhere else. What is compared are medians over steps, with and without the
// delay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

std::vector<record::StepEvent> steps_of(const TrainRun& run, int rank) {
  std::vector<record::StepEvent> steps;
  for (const record::Event& event : run.events(rank)) {
    const auto* step = std::get_if<record::StepEvent>(&event.body);
    if (step != nullptr && !step->warmup.value_or(false)) steps.push_back(*step);
  }
  return steps;
}

// The quarter of a run's steps that took least: a machine that does something else meanwhile makes steps
// longer, and puts what it adds into any span.
class CalmSteps {
 public:
  explicit CalmSteps(const TrainRun& run) : ranks_{steps_of(run, 0), steps_of(run, 1)} {
    const std::size_t count = std::min(ranks_[0].size(), ranks_[1].size());
    for (std::size_t step = 0; step < count; ++step) chosen_.push_back(step);
    const auto length = [&](std::size_t step) { return ranks_[0][step].seconds + ranks_[1][step].seconds; };
    std::sort(chosen_.begin(), chosen_.end(),
              [&](std::size_t one, std::size_t other) { return length(one) < length(other); });
    chosen_.resize(std::max<std::size_t>(1, count / 4));
  }
  double median(int rank, const Figure& figure) const {
    std::vector<double> values;
    for (const std::size_t step : chosen_)
      values.push_back(figure(ranks_[static_cast<std::size_t>(rank)].at(step)));
    return base::median(values);
  }

 private:
  std::array<std::vector<record::StepEvent>, 2> ranks_;
  std::vector<std::size_t> chosen_;
};

// What a delay has changed in a figure of a rank.
struct Expected {
  const char* name;
  int rank;
  Figure figure;
  double seconds;
};

// A small model: its own times are a small part of the delay, and so is their noise.
constexpr const char* kQuick =
    "--model lenet5 --workers 2 --threads 1 --loader-threads 0 --steps 88 --skip-steps 8 --batch-size 8 "
    "--validate-every 0 --check-every 0 ";

class Injection : public ::testing::Test {
 protected:
  TrainRun with(const std::string& delay, const std::string& flags) const {
    const std::string environment = delay.empty() ? "" : "LOCKSTEP_DELAY=" + delay;
    TrainRun run = store_.train(flags, 240, environment);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run;
  }
  // What is not as expected; empty when all is.
  std::string surprises(const std::string& delay, const std::string& flags,
                        const std::vector<Expected>& all) const {
    const CalmSteps plain(with("", flags));
    const CalmSteps delayed(with(delay, flags));
    std::string found;
    for (const Expected& one : all) {
      const double more = delayed.median(one.rank, one.figure) - plain.median(one.rank, one.figure);
      if (std::abs(more - one.seconds) > kTolerance)
        found += std::string(one.name) + " of rank " + std::to_string(one.rank) + " changed by " +
                 std::to_string(more) + " s, not " + std::to_string(one.seconds) + "\n";
    }
    return found;
  }
  // A busy machine may spoil an attempt, but not show a delay where there is none three times.
  void expect_changes(const std::string& delay, const std::string& flags,
                      const std::vector<Expected>& all) const {
    std::string found;
    for (int attempt = 0; attempt < 3; ++attempt) {
      found = surprises(delay, flags, all);
      if (found.empty()) return;
    }
    ADD_FAILURE() << delay << ":\n" << found;
  }
  TrainStore store_;
};

TEST_F(Injection, ADelayInTheLoaderIsWaitingForData) {
  std::vector<Expected> all;
  for (const int rank : {0, 1}) {
    all.push_back({"data", rank, kData, kDelay});
    all.push_back({"forward", rank, kForward, 0});
    all.push_back({"backward", rank, kBackward, 0});
    all.push_back({"optimizer", rank, kOptimizer, 0});
  }
  expect_changes("loader=50ms", kQuick, all);
}

TEST_F(Injection, ADelayInOneRanksComputeIsItsForwardAndTheOthersWait) {
  for (const std::string way : {"--overlap on", "--overlap off", "--strategy horovod"})
    expect_changes("compute=50ms@1", kQuick + way,
                   {{"forward", 1, kForward, kDelay},
                    {"exposed_comm", 1, kExposed, 0},
                    {"peer wait", 1, kPeerWait, 0},
                    {"forward", 0, kForward, 0},
                    {"exposed_comm", 0, kExposed, kDelay},
                    {"peer wait", 0, kPeerWait, kDelay}});
}

// One bucket: the delay comes once a step.
TEST_F(Injection, ADelayInTheLinkIsExposedCommunication) {
  std::vector<Expected> all;
  for (const int rank : {0, 1}) {
    all.push_back({"exposed_comm", rank, kExposed, kDelay});
    all.push_back({"busy", rank, kBusy, kDelay});
    all.push_back({"backward", rank, kBackward, 0});
  }
  expect_changes("link=50ms", std::string(kQuick) + "--first-bucket-bytes 16M --overlap off", all);
}

// Backward goes on for longer than the first bucket is late. The bound leaves room for noise: the delay that
// would show is far above it. Runs that another program disturbed are made again, twice at most.
TEST_F(Injection, ALateFirstBucketIsHiddenByTheRestOfBackward) {
  const std::string flags =
      "--model resnet18-cifar --model-options width=16 --data digits --train-samples 4000 --image-size 32 "
      "--augment none --workers 2 --threads 1 --steps 30 --skip-steps 6 --batch-size 64 --buffers local "
      "--validate-every 0 --check-every 0 --overlap on --first-bucket-bytes 256K --bucket-bytes 64M";
  double more = 0, was_there = 0, delay = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const CalmSteps plain(with("", flags));
    delay = std::min(kDelay, plain.median(0, kBackward) / 3);
    ASSERT_GT(delay, 0.010) << "backward is too short to hide anything";
    const TrainRun run = with("first-bucket=" + std::to_string(delay), flags);
    const CalmSteps delayed(run);
    const double hidden = run.record.at("comm").at("hidden_fraction");
    EXPECT_GE(hidden, 0);
    EXPECT_LE(hidden, 1);
    was_there = delayed.median(0, kBusy) - plain.median(0, kBusy);
    more = delayed.median(0, kExposed) - plain.median(0, kExposed);
    if (was_there > delay / 2 && more < delay / 4) return;
  }
  ADD_FAILURE() << "communication grew by " << was_there << " s, and by " << more
                << " s where it is exposed, of a delay of " << delay << " s";
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
