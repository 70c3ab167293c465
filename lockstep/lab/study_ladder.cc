// The part of StudyState that climbs a ladder: value by value along one axis, while it pays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/statistics.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/lab/study_state.h"

namespace lockstep::lab {

std::size_t StudyState::index_of_value(const std::string& label) const {
  const auto axis = std::find_if(plan_.study.axes.begin(), plan_.study.axes.end(),
                                 [&](const Axis& a) { return a.name == plan_.study.ladder->axis; });
  if (axis == plan_.study.axes.end()) return 0;
  const auto value = std::find_if(axis->values.begin(), axis->values.end(),
                                  [&](const AxisValue& v) { return v.label == label; });
  return static_cast<std::size_t>(value - axis->values.begin());
}

std::size_t StudyState::value_index(std::size_t cell) const {
  return index_of_value(plan_.cells[cell].cell.at(plan_.study.ladder->axis));
}

// The cell with the next lower value, all else equal, among those that can run.
std::optional<std::size_t> StudyState::rung_below(std::size_t cell) const {
  const auto elsewhere = [&](std::size_t index) {
    std::vector<AxisPoint> point = plan_.cells[index].cell.point;
    std::erase_if(point, [&](const AxisPoint& at) { return at.axis == plan_.study.ladder->axis; });
    return point;
  };
  std::optional<std::size_t> below;
  for (std::size_t other = 0; other < plan_.cells.size(); ++other) {
    if (!plan_.cells[other].cannot_run.empty() || value_index(other) >= value_index(cell)) continue;
    if (elsewhere(other) != elsewhere(cell)) continue;
    if (!below || value_index(other) > value_index(*below)) below = other;
  }
  return below;
}

double StudyState::ladder_mean(std::size_t cell) const {
  std::vector<double> figures;
  for (const auto& [repeat, run] : runs_[cell])
    if (run.ladder_figure) figures.push_back(*run.ladder_figure);
  return figures.empty() ? 0 : base::mean(figures);
}

// Of the figure, from the rung below. To be asked where there is one with a figure.
double StudyState::growth_of(std::size_t cell) const {
  return ladder_mean(cell) / ladder_mean(*rung_below(cell)) - 1;
}

// By how much a rung was better than the one below it, whichever way the figure gets better; nothing while
// that cannot be told.
std::optional<double> StudyState::gain_of(std::size_t cell) const {
  const std::optional<std::size_t> below = rung_below(cell);
  if (!below || ladder_mean(*below) <= 0 || ladder_mean(cell) <= 0) return std::nullopt;
  const double growth = 1 + growth_of(cell);
  const bool less_is_better = find_run_figure(plan_.study.ladder->figure)->better == Better::lower;
  return (less_is_better ? 1 / growth : growth) - 1;
}

CellEnd StudyState::ladder_end(std::size_t cell) const {
  if (!plan_.study.ladder || !runs_[cell].empty()) return {};
  const Ladder& ladder = *plan_.study.ladder;
  const std::optional<std::size_t> below = rung_below(cell);
  if (!below) return {};
  const std::string label = plan_.cells[*below].cell.at(ladder.axis);
  const CellEnd lower = end_of(*below);
  if (lower.kind == EndKind::ladder_ended) return lower;
  if (lower.kind == EndKind::out_of_memory || lower.kind == EndKind::failed)
    return {EndKind::ladder_ended,
            fmt::format("not climbed: it ended at {} {} ({})", ladder.axis, label, lower.text)};
  const double gain = gain_of(*below).value_or(ladder.least_gain);
  if (value_index(cell) <= index_of_value(ladder.always) || gain >= ladder.least_gain) return {};
  return {EndKind::ladder_ended,
          fmt::format("not climbed: {} {} changed {} by {:+.1f} %; it is to be {:.0f} % better", ladder.axis,
                      label, ladder.figure, 100 * growth_of(*below), 100 * ladder.least_gain)};
}

// A rung above the ones that always run waits for the one below it.
bool StudyState::waits_for_ladder(std::size_t cell) const {
  if (!plan_.study.ladder) return false;
  const std::optional<std::size_t> below = rung_below(cell);
  return below && runs_[*below].empty() && !end_of(*below).ended();
}

}  // namespace lockstep::lab
