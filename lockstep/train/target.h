// The figure at which a run may stop, and when it was reached.
#pragma once

#include <optional>

#include "lockstep/record/figures.h"
#include "lockstep/record/spec.h"
#include "lockstep/train/metrics.h"

namespace lockstep::train {

// All ranks' figures of an epoch.
struct EpochMetrics {
  Metrics train;
  std::optional<Metrics> validation;  // where the epoch ended with one
};

class Target {
 public:
  explicit Target(const record::RunSpec& spec);
  bool asked_for() const { return figures_.has_value(); }
  // Whether this epoch reaches it; then epochs and seconds are noted.
  bool reached(const EpochMetrics& epoch, std::int64_t epochs_done, double train_seconds);
  const std::optional<record::TargetFigures>& figures() const { return figures_; }

 private:
  std::optional<double> figure_of(const EpochMetrics& epoch) const;
  std::optional<record::TargetFigures> figures_;
  bool larger_is_better_ = false;
};

}  // namespace lockstep::train
