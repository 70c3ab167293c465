#include "lockstep/report/model/targets.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::report {
namespace {

std::optional<double> figure_of(const record::EpochFigures& epoch, const std::string& name) {
  if (name == "train_loss") return epoch.train_loss;
  if (name == "val_loss") return epoch.val_loss;
  if (name == "val_accuracy") return epoch.val_accuracy;
  if (name == "val_psnr") return epoch.val_psnr;
  return std::nullopt;
}

bool wants_more(const lab::Target& target) {
  return target.figure == "val_accuracy" || target.figure == "val_psnr";
}

bool is_met(const lab::Target& target, double value) {
  return wants_more(target) ? value >= target.value : value < target.value;
}

std::optional<Number> over_runs(const GridCell& cell, const lab::Target& target, double Reached::*what) {
  std::vector<double> values;
  for (const record::RunRecord& run : cell.runs)
    if (const auto when = reached(run, target)) values.push_back((*when).*what);
  return estimate(values);
}

// The record's metric as a figure of an epoch.
lab::Target target_of(const record::TargetFigures& target) {
  const std::string& metric = target.metric;
  const std::string figure = metric == "loss"       ? "train_loss"
                             : metric == "accuracy" ? "val_accuracy"
                             : metric == "psnr"     ? "val_psnr"
                                                    : metric;
  return {figure, target.value};
}

}  // namespace

std::optional<Reached> reached(const record::RunRecord& run, const lab::Target& target) {
  double seconds = 0;
  for (const record::EpochFigures& epoch : run.epochs) {
    if (epoch.unfinished.value_or(false)) continue;
    seconds += epoch.seconds;
    const auto value = figure_of(epoch, target.figure);
    if (value && is_met(target, *value)) return Reached{static_cast<double>(epoch.epoch), seconds};
  }
  return std::nullopt;
}

std::vector<lab::Target> targets_of(const lab::Study* study, const Grid& grid) {
  if (study != nullptr && !study->targets.empty()) return study->targets;
  std::vector<lab::Target> targets;
  for (const GridCell& cell : grid.cells)
    for (const record::RunRecord& run : cell.runs) {
      if (!run.target) continue;
      const lab::Target target = target_of(*run.target);
      const auto same = [&](const lab::Target& known) {
        return known.figure == target.figure && known.value == target.value;
      };
      if (std::none_of(targets.begin(), targets.end(), same)) targets.push_back(target);
    }
  return targets;
}

std::string target_text(const lab::Target& target) {
  std::string words = target.figure;
  std::replace(words.begin(), words.end(), '_', ' ');
  return fmt::format("{} {} {}", words, wants_more(target) ? "at least" : "below", target.value);
}

std::optional<Number> epochs_until(const GridCell& cell, const lab::Target& target) {
  return over_runs(cell, target, &Reached::epochs);
}

std::optional<Number> seconds_until(const GridCell& cell, const lab::Target& target) {
  return over_runs(cell, target, &Reached::seconds);
}

}  // namespace lockstep::report
