#include "lockstep/train/schedule.h"

#include <cmath>
#include <numbers>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::train {
namespace {

// The linear scaling rule: k times the batch, k times the rate.
double scale_of(const record::RunSpec& spec) {
  if (spec.learning_rate_scaling != "linear") return 1;
  const record::BatchSizes batch = record::batch_sizes(spec);
  return static_cast<double>(batch.global) /
         static_cast<double>(spec.scaling_batch.value_or(batch.per_worker));
}

}  // namespace

Schedule::Schedule(const record::RunSpec& spec, std::uint64_t steps_per_epoch, std::uint64_t total_steps)
    : spec_(spec),
      base_rate_(spec.learning_rate),
      full_rate_(spec.learning_rate * scale_of(spec)),
      steps_per_epoch_(steps_per_epoch),
      warmup_steps_(static_cast<std::uint64_t>(
          std::llround(spec.warmup_epochs * static_cast<double>(steps_per_epoch)))),
      total_steps_(total_steps) {
  if (steps_per_epoch_ == 0) throw base::ConfigError("an epoch has no steps: there is no training data");
  if (spec_.schedule == "cosine" && total_steps_ == 0) {
    throw base::ConfigError(
        "schedule cosine decays over the run, and how long it will be is not known: give epochs or steps, or "
        "take "
        "schedule step");
  }
}

double Schedule::learning_rate(std::uint64_t step) const {
  return step < warmup_steps_ ? warmed_up(step) : decayed(step);
}

double Schedule::warmed_up(std::uint64_t step) const {
  const double share = static_cast<double>(step) / static_cast<double>(warmup_steps_);
  return base_rate_ + (full_rate_ - base_rate_) * share;
}

double Schedule::decayed(std::uint64_t step) const {
  if (spec_.schedule == "step") {
    const std::uint64_t falls = step / steps_per_epoch_ / static_cast<std::uint64_t>(spec_.schedule_epochs);
    return full_rate_ * std::pow(spec_.schedule_factor, static_cast<double>(falls));
  }
  if (spec_.schedule != "cosine") return full_rate_;
  if (step >= total_steps_) return 0;
  // From the end of warm-up, so that the rate does not jump there.
  const double share =
      static_cast<double>(step - warmup_steps_) / static_cast<double>(total_steps_ - warmup_steps_);
  return full_rate_ * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace lockstep::train
