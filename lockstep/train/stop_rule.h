// When training ends for want of steps, epochs or time, whichever limit comes first.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lockstep/base/clock.h"
#include "lockstep/record/spec.h"

namespace lockstep::train {

class StopRule {
 public:
  // Without any limit (epochs, steps, max_time, or a target, which the loop checks) a run has one epoch.
  StopRule(const record::RunSpec& spec, std::uint64_t steps_per_epoch);

  // Of the whole run; nothing when only time or a target limits it.
  std::optional<std::uint64_t> total_steps() const { return total_steps_; }

  // Which limit ends the run after this many steps and this time of training: "epochs", "steps" or
  // "max_time"; empty to go on. Where ranks look at their own clocks they must agree on the answer before
  // acting on it.
  std::string_view reached(std::uint64_t steps_done, base::Nanoseconds trained) const;

 private:
  std::optional<std::uint64_t> epoch_limit_steps_;  // the epochs, in steps
  std::optional<std::uint64_t> step_limit_;
  std::optional<std::uint64_t> total_steps_;
  std::optional<base::Nanoseconds> time_limit_;
};

}  // namespace lockstep::train
