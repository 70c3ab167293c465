#include "lockstep/report/model/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"

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

// The record's metric as a figure of an epoch.
lab::Target target_of(const record::TargetFigures& target) {
  const std::string& metric = target.metric;
  const std::string figure = metric == "loss"       ? "train_loss"
                             : metric == "accuracy" ? "val_accuracy"
                             : metric == "psnr"     ? "val_psnr"
                                                    : metric;
  return {figure, target.value};
}

bool is_same(const lab::Target& one, const lab::Target& other) {
  return one.figure == other.figure && one.value == other.value;
}

// What the run itself noted counts the training that it was resumed from too; the sum of its epochs does only
// where they begin with the first.
std::optional<double> seconds_of(const record::RunRecord& run, const lab::Target& target, double epochs,
                                 double summed) {
  if (run.target && run.target->seconds && run.target->epochs == epochs &&
      is_same(target_of(*run.target), target))
    return run.target->seconds;
  return run.epochs.front().epoch > 1 ? std::nullopt : std::optional(summed);
}

}  // namespace

std::optional<Reached> reached(const record::RunRecord& run, const lab::Target& target) {
  double summed = 0;
  for (const record::EpochFigures& epoch : run.epochs) {
    if (epoch.unfinished.value_or(false)) continue;
    summed += epoch.seconds;
    const auto value = figure_of(epoch, target.figure);
    if (!value || !is_met(target, *value)) continue;
    const auto epochs = static_cast<double>(epoch.epoch);
    return Reached{epochs, seconds_of(run, target, epochs, summed)};
  }
  return std::nullopt;
}

std::size_t runs_that_reached(const GridCell& cell, const lab::Target& target) {
  return static_cast<std::size_t>(
      std::count_if(cell.runs.begin(), cell.runs.end(),
                    [&](const record::RunRecord& run) { return reached(run, target).has_value(); }));
}

bool is_reached(const GridCell& cell, const lab::Target& target) {
  return !cell.runs.empty() && runs_that_reached(cell, target) == cell.runs.size();
}

std::string reached_text(const GridCell& cell, const lab::Target& target) {
  return fmt::format("{} of {}", runs_that_reached(cell, target), cell.runs.size());
}

std::vector<lab::Target> targets_of(const lab::Study* study, const Grid& grid) {
  if (study != nullptr && !study->targets.empty()) return study->targets;
  std::vector<lab::Target> targets;
  for (const GridCell& cell : grid.cells)
    for (const record::RunRecord& run : cell.runs) {
      if (!run.target) continue;
      const lab::Target target = target_of(*run.target);
      const auto same = [&](const lab::Target& known) { return is_same(known, target); };
      if (std::none_of(targets.begin(), targets.end(), same)) targets.push_back(target);
    }
  return targets;
}

std::string target_text(const lab::Target& target) {
  return fmt::format("{} {} {}", base::spaced(target.figure), wants_more(target) ? "at least" : "below",
                     target.value);
}

std::optional<Number> epochs_until(const GridCell& cell, const lab::Target& target) {
  std::vector<double> epochs;
  for (const record::RunRecord& run : cell.runs)
    if (const auto when = reached(run, target)) epochs.push_back(when->epochs);
  return estimate(epochs);
}

std::optional<Number> seconds_until(const GridCell& cell, const lab::Target& target) {
  std::vector<double> seconds;
  for (const record::RunRecord& run : cell.runs)
    if (const auto when = reached(run, target); when && when->seconds) seconds.push_back(*when->seconds);
  return estimate(seconds);
}

}  // namespace lockstep::report
