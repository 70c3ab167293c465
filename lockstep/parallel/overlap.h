// Whether gradients are reduced while backward goes on. With few cores a communication thread takes from
// backward what it gains, so `auto` tries both ways in the first steps, and all workers take the one that was
// faster. Backends of a device need no thread, and the host's clock would not see what they take: with those
// `auto` is on, unless what waits on the device may keep from beginning what it waits for
// (Communicator::shares_device); then it is off.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::parallel {

class Overlap {
 public:
  // `mode`: auto, on or off. `warn`, which may be empty, is told on rank 0 where a shared device matters.
  Overlap(const std::string& mode, comm::Communicator& communicator,
          const std::function<void(const std::string&)>& warn = {});

  // Whether the step that begins now overlaps.
  bool now() const { return on_; }
  // How long it took from the start of backward until all gradients were reduced. Collective in the last step
  // of the trial (purpose control).
  void end_step(base::Nanoseconds took);
  bool decided() const { return step_ >= kTrialEnd; }

 private:
  void decide();
  void heed_shared_device(const std::string& mode, const std::function<void(const std::string&)>& warn);

  // Step 0 is unlike the others (its buckets are laid out without knowing the order); then on and off take
  // turns.
  static constexpr std::int64_t kTrialBegin = 1;
  static constexpr std::int64_t kTrialEnd = 5;

  comm::Communicator& communicator_;
  std::int64_t step_ = 0;
  bool on_ = true;
  std::array<double, 2> best_seconds_;  // off, on
};

}  // namespace lockstep::parallel
