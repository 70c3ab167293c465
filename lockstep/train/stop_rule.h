// When a run has done what it was asked to: the limits of its spec that can be counted. (A time limit is the
// business of Agreement: ranks' clocks differ.)
#pragma once

#include <cstdint>
#include <optional>

#include "lockstep/record/spec.h"

namespace lockstep::train {

class StopRule {
 public:
  explicit StopRule(const record::RunSpec& spec) : spec_(spec) {}

  // Without any limit (steps, epochs, time, target), one epoch.
  std::optional<std::int64_t> epochs() const;
  bool done(std::int64_t steps_done, std::int64_t epochs_done) const;
  // Of the whole run; nothing when only a time or a target ends it.
  std::optional<std::int64_t> total_steps(std::int64_t steps_per_epoch) const;

 private:
  bool has_target() const;
  const record::RunSpec& spec_;
};

}  // namespace lockstep::train
