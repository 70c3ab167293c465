#include "lockstep/train/stop_rule.h"

#include <algorithm>

namespace lockstep::train {

bool StopRule::has_target() const {
  return spec_.target_loss || spec_.target_val_loss || spec_.target_accuracy || spec_.target_psnr;
}

std::optional<std::int64_t> StopRule::epochs() const {
  if (spec_.epochs) return spec_.epochs;
  const bool limited = spec_.steps || spec_.max_time || has_target();
  return limited ? std::nullopt : std::optional<std::int64_t>(1);
}

bool StopRule::done(std::int64_t steps_done, std::int64_t epochs_done) const {
  const std::optional<std::int64_t> epochs_asked = epochs();
  return (spec_.steps && steps_done >= *spec_.steps) || (epochs_asked && epochs_done >= *epochs_asked);
}

std::optional<std::int64_t> StopRule::total_steps(std::int64_t steps_per_epoch) const {
  const std::optional<std::int64_t> epochs_asked = epochs();
  std::optional<std::int64_t> total = spec_.steps;
  if (epochs_asked)
    total = std::min(total.value_or(*epochs_asked * steps_per_epoch), *epochs_asked * steps_per_epoch);
  return total;
}

}  // namespace lockstep::train
