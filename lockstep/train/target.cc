#include "lockstep/train/target.h"

namespace lockstep::train {

Target::Target(const record::RunSpec& spec) {
  const auto ask = [this](const char* metric, const std::optional<double>& value, bool larger) {
    if (!value || figures_) return;
    figures_ = record::TargetFigures{metric, *value, {}, {}};
    larger_is_better_ = larger;
  };
  ask("loss", spec.target_loss, false);
  ask("val_loss", spec.target_val_loss, false);
  ask("accuracy", spec.target_accuracy, true);
  ask("psnr", spec.target_psnr, true);
}

std::optional<double> Target::figure_of(const EpochMetrics& epoch) const {
  if (figures_->metric == "loss") return epoch.train.loss();
  if (!epoch.validation) return std::nullopt;
  if (figures_->metric == "val_loss") return epoch.validation->loss();
  return figures_->metric == "accuracy" ? epoch.validation->accuracy() : epoch.validation->psnr();
}

bool Target::reached(const EpochMetrics& epoch, std::int64_t epochs_done, double train_seconds) {
  if (!figures_) return false;
  const std::optional<double> figure = figure_of(epoch);
  // Written so that what is not a number reaches nothing.
  const bool good = figure && (larger_is_better_ ? *figure >= figures_->value : *figure < figures_->value);
  if (!good) return false;
  figures_->epochs = static_cast<double>(epochs_done);
  figures_->seconds = train_seconds;
  return true;
}

}  // namespace lockstep::train
