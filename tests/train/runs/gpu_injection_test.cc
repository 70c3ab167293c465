// The split of a step on a GPU, proven by injection as on cores: a delay that is put in one place appears in
// that place's column and in no other. Spans are the device's time here, and every sixteenth step has them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "lockstep/base/statistics.h"
#include "tests/train/runs/gpu_runs.h"

namespace lockstep::testing {
namespace {

constexpr double kDelay = 0.050;
constexpr double kExact = 0.05 * kDelay;
// While a rank's device waits, its host goes on: what the host takes for a step is waiting of the device too.
constexpr double kWithTheHost = 0.2 * kDelay;

// Nothing for a step that does not have it.
using Figure = std::function<std::optional<double>(const record::StepEvent&)>;

Figure span(std::optional<double> record::SplitSeconds::*part) {
  return [part](const record::StepEvent& step) {
    return step.split_seconds ? (*step.split_seconds).*part : std::nullopt;
  };
}

const Figure kData = span(&record::SplitSeconds::data);
const Figure kForward = span(&record::SplitSeconds::forward);
const Figure kBackward = span(&record::SplitSeconds::backward);
const Figure kExposed = span(&record::SplitSeconds::exposed_comm);
const Figure kBusy = [](const record::StepEvent& step) { return step.busy_seconds; };
const Figure kPeerWait = [](const record::StepEvent& step) { return step.peer_wait_seconds; };

// Over the steps of a rank that are not the first ones.
double median(const std::vector<record::Event>& events, const Figure& figure) {
  std::vector<double> values;
  for (const record::Event& event : events) {
    const auto* step = std::get_if<record::StepEvent>(&event.body);
    if (step == nullptr || step->warmup.value_or(false)) continue;
    if (const std::optional<double> value = figure(*step)) values.push_back(*value);
  }
  EXPECT_FALSE(values.empty());
  return values.empty() ? 0 : base::median(values);
}

// How much a delay has changed a figure of a rank.
struct Expected {
  const char* name;
  int rank;
  Figure figure;
  double seconds;
  double tolerance;
};

// One bucket: a delay of the link comes once a step. A recorded step would not sleep.
constexpr const char* kQuick =
    "--model lenet5 --data digits --train-samples 400 --workers 2 --backend p2p --threads 1 --loader-threads "
    "0 --steps 100 "
    "--skip-steps 8 --batch-size 8 --validate-every 0 --check-every 0 --graph off --overlap off "
    "--first-bucket-bytes 16M ";

class GpuInjection : public GpuRuns {
 protected:
  using Ranks = std::vector<std::vector<record::Event>>;

  Ranks with(const std::string& delay, const std::string& flags = kQuick) const {
    const TrainRun run = store_.train(flags + kSlice, 120, delay.empty() ? "" : "LOCKSTEP_DELAY=" + delay);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (run.exit_code != 0) return {};
    return {run.events(0), run.events(1)};
  }

  // Once for all tests.
  const Ranks& undisturbed() const {
    static const Ranks ranks = with("");
    return ranks;
  }

  void expect_changes(const std::string& delay, const std::vector<Expected>& all) const {
    const Ranks& plain = undisturbed();
    const Ranks delayed = with(delay);
    ASSERT_EQ(plain.size(), 2u);
    ASSERT_EQ(delayed.size(), 2u);
    for (const Expected& one : all) {
      const auto rank = static_cast<std::size_t>(one.rank);
      EXPECT_NEAR(median(delayed[rank], one.figure) - median(plain[rank], one.figure), one.seconds,
                  one.tolerance)
          << one.name << " of rank " << one.rank;
    }
  }
};

TEST_F(GpuInjection, ADelayInOneSlicesComputeIsItsForwardAndTheOthersWait) {
  expect_changes("compute=50ms@1", {{"forward", 1, kForward, kDelay, kExact},
                                    {"exposed_comm", 1, kExposed, 0, kExact},
                                    {"forward", 0, kForward, 0, kExact},
                                    {"exposed_comm", 0, kExposed, kDelay, kWithTheHost},
                                    {"peer wait", 0, kPeerWait, kDelay, kWithTheHost}});
}

TEST_F(GpuInjection, ADelayInTheLoaderIsWaitingForData) {
  std::vector<Expected> all;
  for (const int rank : {0, 1}) {
    all.push_back({"data", rank, kData, kDelay, kWithTheHost});
    all.push_back({"forward", rank, kForward, 0, kExact});
    all.push_back({"backward", rank, kBackward, 0, kExact});
  }
  expect_changes("loader=50ms", all);
}

// Backward of this model takes several times as long as the first bucket is late.
TEST_F(GpuInjection, ADelayThatEndsBeforeBackwardAddsNothingToExposed) {
  const std::string flags =
      "--model resnet18-cifar --data digits --train-samples 6400 --workers 2 --backend p2p --threads 1 "
      "--steps 40 --skip-steps 8 --batch-size 256 --validate-every 0 --check-every 0 --graph off --overlap "
      "on "
      "--first-bucket-bytes 256K --bucket-bytes 64M ";
  constexpr double kShortDelay = 0.010;
  const Ranks plain = with("", flags), delayed = with("first-bucket=10ms", flags);
  ASSERT_EQ(plain.size(), 2u);
  ASSERT_EQ(delayed.size(), 2u);
  for (const std::size_t rank : {0u, 1u}) {
    ASSERT_GT(median(plain[rank], kBackward), 2 * kShortDelay) << "there is nothing to hide it behind";
    EXPECT_NEAR(median(delayed[rank], kBusy) - median(plain[rank], kBusy), kShortDelay, 0.5 * kShortDelay);
    EXPECT_NEAR(median(delayed[rank], kExposed), median(plain[rank], kExposed), 0.2 * kShortDelay);
  }
}

TEST_F(GpuInjection, ADelayInTheLinkIsExposedCommunication) {
  std::vector<Expected> all;
  for (const int rank : {0, 1}) {
    all.push_back({"exposed_comm", rank, kExposed, kDelay, kWithTheHost});
    all.push_back({"busy", rank, kBusy, kDelay, kWithTheHost});
    all.push_back({"forward", rank, kForward, 0, kExact});
    all.push_back({"backward", rank, kBackward, 0, kWithTheHost});
  }
  expect_changes("link=50ms", all);
}

}  // namespace
}  // namespace lockstep::testing
