#include "lockstep/parallel/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lockstep/comm/operation.h"
#include "lockstep/record/catalogue_rules.h"

namespace lockstep::parallel {

Overlap::Overlap(const std::string& mode, comm::Communicator& communicator,
                 const std::function<void(const std::string&)>& warn)
    : communicator_(communicator), on_(mode != "off") {
  best_seconds_.fill(std::numeric_limits<double>::max());
  const bool on_device = record::moves_device_memory(std::string(communicator.backend()));
  if (mode != "auto" || communicator.group().world == 1 || on_device) step_ = kTrialEnd;
  if (on_ && communicator.group().world > 1 && communicator.shares_device()) heed_shared_device(mode, warn);
}

void Overlap::heed_shared_device(const std::string& mode,
                                 const std::function<void(const std::string&)>& warn) {
  on_ = mode == "on";
  if (!warn || communicator_.group().rank != 0) return;
  const std::string reason = fmt::format(
      "workers share a GPU, where {} in the middle of backward may wait for a worker that it keeps from "
      "computing",
      communicator_.backend());
  warn(on_ ? fmt::format("--overlap on may stall: {}. --overlap off does not; backend p2p is made for this.",
                         reason)
           : fmt::format("gradients are reduced when backward has ended (--overlap auto is off): {}. Backend "
                         "p2p overlaps.",
                         reason));
}

void Overlap::end_step(base::Nanoseconds took) {
  if (decided()) return;
  if (step_ >= kTrialBegin) {
    double& best = best_seconds_[on_ ? 1 : 0];
    best = std::min(best, base::to_seconds(took));
  }
  ++step_;
  on_ = (step_ - kTrialBegin) % 2 == 0;
  if (step_ == kTrialEnd) decide();
}

// Sums over ranks: what is slow for one is slow for all.
void Overlap::decide() {
  communicator_.run(comm::all_reduce(comm::host_buffer(best_seconds_.data(), 2, comm::ElementType::f64),
                                     comm::ReduceOp::sum, comm::Purpose::control));
  on_ = best_seconds_[1] <= best_seconds_[0];
}

}  // namespace lockstep::parallel
