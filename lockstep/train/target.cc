#include "lockstep/train/target.h"

#include <array>

namespace lockstep::train {
namespace {

struct Kind {
  const char* metric;
  std::optional<double> record::RunSpec::*goal;
  std::optional<double> record::EpochFigures::*figure;
  bool below;  // else at least
};

using record::EpochFigures;
using record::RunSpec;
constexpr std::array kKinds = {
    Kind{"train_loss", &RunSpec::target_loss, &EpochFigures::train_loss, true},
    Kind{"val_loss", &RunSpec::target_val_loss, &EpochFigures::val_loss, true},
    Kind{"val_accuracy", &RunSpec::target_accuracy, &EpochFigures::val_accuracy, false},
    Kind{"val_psnr", &RunSpec::target_psnr, &EpochFigures::val_psnr, false},
};

bool reaches(const Kind& kind, const std::optional<double>& figure, double goal) {
  return figure && (kind.below ? *figure < goal : *figure >= goal);
}

}  // namespace

Target::Target(const record::RunSpec& spec) {
  for (const Kind& kind : kKinds) {
    if (spec.*kind.goal && !figures_)
      figures_ = record::TargetFigures{kind.metric, *(spec.*kind.goal), {}, {}};
  }
}

bool Target::reached_by(const record::EpochFigures& epoch) const {
  if (!figures_) return false;
  for (const Kind& kind : kKinds) {
    if (figures_->metric == kind.metric) return reaches(kind, epoch.*kind.figure, figures_->value);
  }
  return false;
}

bool Target::note(const record::EpochFigures& epoch, double epochs_done, double seconds_so_far) {
  if (!figures_) return false;
  if (!figures_->epochs && reached_by(epoch)) {
    figures_->epochs = epochs_done;
    figures_->seconds = seconds_so_far;
  }
  return figures_->epochs.has_value();
}

void Target::restore(const std::optional<record::TargetFigures>& figures) {
  const bool same =
      figures && figures_ && figures->metric == figures_->metric && figures->value == figures_->value;
  if (same) figures_ = figures;
}

}  // namespace lockstep::train
