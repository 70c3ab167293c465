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
  OnADevice(std::unique_ptr<comm::Communicator> inner, std::string backend = "p2p", bool shares = false)
      : ForwardingCommunicator(std::move(inner)), backend_(std::move(backend)), shares_(shares) {}
  std::string_view backend() const override { return backend_; }
  bool shares_device() const override { return shares_; }

 protected:
  std::unique_ptr<comm::Communicator> wrap(std::unique_ptr<comm::Communicator> made) override {
    return std::make_unique<OnADevice>(std::move(made), backend_, shares_);
  }

 private:
  std::string backend_;
  bool shares_;
};

TEST(Overlap, AutoIsOnWhereADeviceMovesTheBytes) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    OnADevice device(communicator.duplicate());
    const Overlap overlap("auto", device);
    check(overlap.decided() && overlap.now(), "there is nothing to try");
  });
}

// Said once, by rank 0, and with the reason.
TEST(Overlap, AutoIsOffWhereADeviceThatRanksShareWouldKeepThemWaiting) {
  lockstep::testing::expect_replicas_succeed(2, [](comm::Communicator& communicator) {
    OnADevice device(communicator.duplicate(), "nccl", true);
    std::vector<std::string> said;
    const auto warn = [&](const std::string& text) { said.push_back(text); };
    const std::size_t times = communicator.group().rank == 0 ? 1 : 0;
    check(!Overlap("auto", device, warn).now() && said.size() == times, "off, said once");
    check(said.empty() || said[0].find("workers share a GPU, where nccl") != std::string::npos, "the reason");
    said.clear();
    check(Overlap("on", device, warn).now() && said.size() == times, "on as asked, with a warning");
    check(said.empty() || said[0].find("--overlap on may stall") != std::string::npos, "the warning");
    said.clear();
    check(!Overlap("off", device, warn).now() && said.empty(), "off as asked");
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
