#include "lockstep/parallel/overlap.h"

#include <algorithm>
#include <limits>

#include "lockstep/comm/operation.h"
#include "lockstep/record/catalogue_rules.h"

namespace lockstep::parallel {

Overlap::Overlap(const std::string& mode, comm::Communicator& communicator)
    : communicator_(communicator), on_(mode != "off") {
  best_seconds_.fill(std::numeric_limits<double>::max());
  const bool on_device = record::moves_device_memory(std::string(communicator.backend()));
  if (mode != "auto" || communicator.group().world == 1 || on_device) step_ = kTrialEnd;
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
