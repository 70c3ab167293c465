#include "lockstep/report/model/last_epoch.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::report {
namespace {

using record::EpochFigures;
using record::RunRecord;

bool is_unfinished(const EpochFigures& epoch) {
  return epoch.unfinished.value_or(false);
}

// What the figures of some cells were taken after.
struct Taken {
  bool unfinished = false;           // some figure is of a part of an epoch
  std::int64_t least = 0, most = 0;  // finished epochs; 0: no figure is of one

  void add(const EpochFigures& epoch) {
    if (is_unfinished(epoch)) {
      unfinished = true;
      return;
    }
    least = least == 0 ? epoch.epoch : std::min(least, epoch.epoch);
    most = std::max(most, epoch.epoch);
  }
  bool is_mixed() const { return unfinished ? most > 0 : least != most; }
};

Taken taken_of(std::span<const GridCell* const> cells, std::string_view figure) {
  Taken taken;
  for (const GridCell* cell : cells) {
    if (cell == nullptr) continue;
    for (const RunRecord& run : cell->runs)
      if (const EpochFigures* epoch = epoch_behind(run, epoch_value(figure))) taken.add(*epoch);
  }
  return taken;
}

}  // namespace

EpochValue epoch_value(std::string_view figure) {
  if (figure == "train_loss") return &EpochFigures::train_loss;
  if (figure == "train_accuracy") return &EpochFigures::train_accuracy;
  if (figure == "val_loss") return &EpochFigures::val_loss;
  if (figure == "val_accuracy") return &EpochFigures::val_accuracy;
  if (figure == "val_psnr") return &EpochFigures::val_psnr;
  return nullptr;
}

const EpochFigures* epoch_behind(const RunRecord& run, EpochValue value) {
  if (value == nullptr) return nullptr;
  const EpochFigures* of_unfinished = nullptr;
  for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch) {
    if (!((*epoch).*value)) continue;
    if (!is_unfinished(*epoch)) return &*epoch;
    if (of_unfinished == nullptr) of_unfinished = &*epoch;
  }
  return of_unfinished;
}

std::optional<Number> epoch_of(const GridCell& cell, std::string_view figure) {
  std::vector<double> epochs;
  for (const RunRecord& run : cell.runs)
    if (const EpochFigures* epoch = epoch_behind(run, epoch_value(figure)))
      epochs.push_back(static_cast<double>(epoch->epoch));
  return estimate(epochs);
}

std::string epoch_field(const GridCell& cell, std::string_view figure) {
  const RunRecord& run = cell.runs.front();
  const EpochFigures* epoch = epoch_behind(run, epoch_value(figure));
  if (epoch == nullptr) return fmt::format("epochs[].{}", figure);
  return fmt::format("epochs[{}].{}", epoch - run.epochs.data(), figure);
}

bool has_finished_epoch(const GridCell& cell) {
  return std::any_of(cell.runs.begin(), cell.runs.end(), [](const RunRecord& run) {
    return !run.epochs.empty() && !is_unfinished(run.epochs.front());
  });
}

bool was_resumed(const RunRecord& run) {
  const bool asked = run.spec.is_object() && !run.spec.value("resume", nlohmann::json()).is_null();
  return asked || (!run.epochs.empty() && run.epochs.front().epoch > 1);
}

std::string stopped_text(const GridCell& cell) {
  const auto stopped = std::find_if(cell.runs.begin(), cell.runs.end(), [](const RunRecord& run) {
    return !run.epochs.empty() && is_unfinished(run.epochs.back());
  });
  if (stopped == cell.runs.end()) return "";
  const std::int64_t inside = stopped->epochs.back().epoch;
  if (stopped->epochs.size() > 1)
    return fmt::format("stopped inside epoch {}: quality is of the epochs before", inside);
  return fmt::format("stopped inside epoch {}, after {} step{}: quality is of that part", inside,
                     stopped->steps.count, stopped->steps.count == 1 ? "" : "s");
}

std::string epochs_note(std::span<const GridCell* const> cells, std::string_view figure) {
  const Taken taken = taken_of(cells, figure);
  if (!taken.is_mixed()) return taken.unfinished ? " (of unfinished epochs)" : "";
  if (taken.unfinished)
    return fmt::format(" (after a part of an epoch to {} epoch{})", taken.most, taken.most == 1 ? "" : "s");
  return fmt::format(" (after {} to {} epochs)", taken.least, taken.most);
}

bool ended_apart(std::span<const GridCell* const> cells, std::string_view figure) {
  return taken_of(cells, figure).is_mixed();
}

}  // namespace lockstep::report
