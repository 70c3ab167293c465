#include "lockstep/train/stop_rule.h"

#include <algorithm>

namespace lockstep::train {
namespace {

bool has_target(const record::RunSpec& spec) {
  return spec.target_loss || spec.target_val_loss || spec.target_accuracy || spec.target_psnr;
}

std::optional<std::uint64_t> epochs_of(const record::RunSpec& spec) {
  if (spec.epochs) return static_cast<std::uint64_t>(*spec.epochs);
  if (spec.steps || spec.max_time || has_target(spec)) return std::nullopt;
  return 1;
}

std::optional<std::uint64_t> lesser(std::optional<std::uint64_t> one, std::optional<std::uint64_t> other) {
  if (one && other) return std::min(*one, *other);
  return one ? one : other;
}

}  // namespace

StopRule::StopRule(const record::RunSpec& spec, std::uint64_t steps_per_epoch) {
  if (const auto epochs = epochs_of(spec)) epoch_limit_steps_ = *epochs * steps_per_epoch;
  if (spec.steps) step_limit_ = static_cast<std::uint64_t>(*spec.steps);
  if (spec.max_time) time_limit_ = base::from_seconds(spec.max_time->count);
  total_steps_ = lesser(epoch_limit_steps_, step_limit_);
}

std::string_view StopRule::reached(std::uint64_t steps_done, base::Nanoseconds trained) const {
  if (epoch_limit_steps_ && steps_done >= *epoch_limit_steps_) return "epochs";
  if (step_limit_ && steps_done >= *step_limit_) return "steps";
  if (time_limit_ && trained >= *time_limit_) return "max_time";
  return "";
}

}  // namespace lockstep::train
