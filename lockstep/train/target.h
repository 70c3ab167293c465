// The target of a run: the figure an epoch must reach for training to be done.
#pragma once

#include <optional>

#include "lockstep/record/figures.h"
#include "lockstep/record/record.h"
#include "lockstep/record/spec.h"

namespace lockstep::train {

class Target {
 public:
  // A spec has at most one target (validation sees to that); without one nothing is ever reached.
  explicit Target(const record::RunSpec& spec);

  // Whether the epoch's figures reach the target: losses below it, accuracy and PSNR at least it. A figure
  // that was not measured in this epoch, or is not a number, does not.
  bool reached_by(const record::EpochFigures& epoch) const;
  // Remembers when, at the first epoch that reaches it; later ones change nothing. Epochs count from 1: an
  // epoch that ended is a whole one. Returns whether the target is reached now.
  bool note(const record::EpochFigures& epoch, double epochs_done, double seconds_so_far);

  // What the record says; nothing for a spec without a target.
  const std::optional<record::TargetFigures>& figures() const { return figures_; }
  // For a resumed run.
  void restore(const std::optional<record::TargetFigures>& figures);

 private:
  std::optional<record::TargetFigures> figures_;
};

}  // namespace lockstep::train
