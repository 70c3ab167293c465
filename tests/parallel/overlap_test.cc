#include "lockstep/parallel/overlap.h"

#include <gtest/gtest.h>

#include "lockstep/comm/wrappers/forwarding.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::parallel {
namespace {

using lockstep::testing::check;
using namespace std::chrono_literals;

constexpr int kSteps = 12;

// Runs steps that last as given and says what was decided.
bool decided(const std::string& mode, comm::Communicator& communicator, base::Nanoseconds when_on,
             base::Nanoseconds when_off) {
  Overlap overlap(mode, communicator);
  for (int step = 0; step < kSteps; ++step) overlap.end_step(overlap.now() ? when_on : when_off);
  check(overlap.decided(), "the trial has ended");
  return overlap.now();
}

TEST(Overlap, OnAndOffStayWhatTheyAre) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    check(decided("on", communicator, 9ms, 1ms), "on");
    check(!decided("off", communicator, 1ms, 9ms), "off");
  });
}

TEST(Overlap, AutoTakesTheFasterWay) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    check(decided("auto", communicator, 5ms, 6ms), "on is faster");
    check(!decided("auto", communicator, 6ms, 5ms), "off is faster");
  });
}

// As a device's backend would be called.
class OnADevice : public comm::ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;
  std::string_view backend() const override { return "p2p"; }

 protected:
  std::unique_ptr<comm::Communicator> wrap(std::unique_ptr<comm::Communicator> made) override {
    return std::make_unique<OnADevice>(std::move(made));
  }
};

TEST(Overlap, AutoIsOnWhereADeviceMovesTheBytes) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    OnADevice device(communicator.duplicate());
    const Overlap overlap("auto", device);
    check(overlap.decided() && overlap.now(), "there is nothing to try");
  });
}

TEST(Overlap, RanksThatSeeItDifferentlyDecideAlike) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    const bool first = communicator.group().rank == 0;
    // Rank 0 gains 2 ms by overlapping, rank 1 loses 7.
    check(!decided("auto", communicator, first ? 4ms : 12ms, first ? 6ms : 5ms),
          "what is slow for one is slow for all");
  });
}

TEST(Overlap, OneSlowTrialDoesNotDecide) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    Overlap overlap("auto", communicator);
    bool disturbed = false;
    for (int step = 0; step < kSteps; ++step) {
      const bool on = overlap.now();
      const bool slow = on && step > 0 && !std::exchange(disturbed, true);
      overlap.end_step(slow ? 100ms : on ? 5ms : 6ms);
    }
    check(overlap.now(), "the best of each counts");
  });
}

}  // namespace
}  // namespace lockstep::parallel
