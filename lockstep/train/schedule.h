// The learning rate of every step: base rate, linear scaling rule, gradual warm-up, schedule. A pure function
// of the step, so that a resumed run needs nothing but its number.
#pragma once

#include <cstdint>

#include "lockstep/record/spec.h"

namespace lockstep::train {

// With t the step, w the steps of warm-up (warmup_epochs * steps per epoch, to the nearest) and T all steps:
//   warm-up   t < w: base + (full - base) * t / w, from one worker's rate (base) to the scaled one (full)
//   constant  full
//   step      full * schedule_factor ^ floor(epoch / schedule_epochs), epochs counted from the start of the
//   run cosine    full * (1 + cos(pi * (t - w) / (T - w))) / 2
class Schedule {
 public:
  // `total_steps`: of the whole run, what cosine decays over; 0 when no limit is known (cosine is then
  // refused with a ConfigError that says so).
  Schedule(const record::RunSpec& spec, std::uint64_t steps_per_epoch, std::uint64_t total_steps);
  double learning_rate(std::uint64_t step) const;
  // After scaling, before warm-up and schedule.
  double full_rate() const { return full_rate_; }

 private:
  double warmed_up(std::uint64_t step) const;
  double decayed(std::uint64_t step) const;

  record::RunSpec spec_;
  double base_rate_;
  double full_rate_;
  std::uint64_t steps_per_epoch_;
  std::uint64_t warmup_steps_;
  std::uint64_t total_steps_;
};

}  // namespace lockstep::train
