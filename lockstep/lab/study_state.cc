#include "lockstep/lab/study_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "lockstep/base/counted.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/units.h"
#include "lockstep/lab/repeat_interval.h"
#include "lockstep/lab/run_figures.h"

namespace lockstep::lab {
namespace {

std::optional<double> figure_of(const record::RunRecord& record, const std::string& name) {
  const RunFigure* figure = find_run_figure(name);
  return figure == nullptr ? std::nullopt : figure->of(record);
}

}  // namespace

std::string shuffle_key(const StudyPlan& plan, const NextRun& run) {
  return base::sha256_hex(
      fmt::format("{}/{}/{}", plan.study.id(), run.repeat, plan.cells[run.cell].cell.name));
}

StudyState::StudyState(const StudyPlan& plan) : plan_(plan), runs_(plan.cells.size()) {}

void StudyState::add(std::size_t cell, int repeat, const record::RunRecord& record) {
  const Study& study = plan_.study;
  Ended run;
  run.status = record.status;
  run.seconds = record.wall_seconds.total.value_or(0);
  run.interval_figure = figure_of(record, study.interval.value_or(IntervalGoal{}).figure);
  if (study.ladder) run.ladder_figure = figure_of(record, study.ladder->figure);
  runs_[cell][repeat] = run;
}

bool StudyState::has(std::size_t cell, const std::string& status) const {
  return std::any_of(runs_[cell].begin(), runs_[cell].end(),
                     [&](const auto& run) { return run.second.status == status; });
}

double StudyState::seconds_spent(std::size_t cell) const {
  double seconds = 0;
  for (const auto& [repeat, run] : runs_[cell]) seconds += run.seconds;
  return seconds;
}

std::optional<double> StudyState::half_width(std::size_t cell) const {
  std::vector<double> figures;
  for (const auto& [repeat, run] : runs_[cell])
    if (run.interval_figure) figures.push_back(*run.interval_figure);
  return relative_half_width(figures);
}

CellEnd StudyState::end_of(std::size_t cell) const {
  const PlannedCell& planned = plan_.cells[cell];
  const Study& study = plan_.study;
  if (!planned.cannot_run.empty()) return {EndKind::cannot_run, planned.cannot_run};
  if (has(cell, "out_of_memory")) return {EndKind::out_of_memory, "out of memory: the answer, not repeated"};
  if (has(cell, "failed") || has(cell, "interrupted"))
    return {EndKind::failed, "failed: not repeated; --resume tries again"};
  const int count = done(cell);
  const std::optional<double> width = half_width(cell);
  const std::string spread = width ? fmt::format(", interval ±{:.1f} %", 100 * *width) : "";
  if (count >= study.repeats.least && study.interval && width && *width <= study.interval->relative)
    return {EndKind::interval_reached,
            fmt::format("{}{}: within the goal of {:.0f} %", base::counted(count, "repeat"), spread,
                        100 * study.interval->relative)};
  if (count >= study.repeats.most)
    return {EndKind::repeats_done,
            fmt::format("{}{}{}", count == 1 ? "" : "all ", base::counted(count, "repeat"), spread)};
  if (count > 0 && study.cell_budget && seconds_spent(cell) >= base::to_seconds(*study.cell_budget))
    return {EndKind::budget_spent,
            fmt::format("{}{}: its budget of {} is spent", base::counted(count, "repeat"), spread,
                        base::format_duration(*study.cell_budget))};
  return ladder_end(cell);
}

int StudyState::next_repeat(std::size_t cell) const {
  int repeat = 1;
  while (runs_[cell].contains(repeat)) ++repeat;
  return repeat;
}

std::optional<NextRun> StudyState::next(std::optional<double> seconds_left) const {
  std::optional<NextRun> best;
  std::tuple<int, std::string> best_key;
  for (std::size_t cell = 0; cell < runs_.size(); ++cell) {
    if (end_of(cell).ended() || waits_for_ladder(cell)) continue;
    if (seconds_left && (*seconds_left <= 0 || (done(cell) > 0 && estimate(cell) > *seconds_left))) continue;
    const NextRun run{cell, next_repeat(cell)};
    const std::tuple<int, std::string> key{run.repeat, shuffle_key(plan_, run)};
    if (!best || key < best_key) {
      best = run;
      best_key = key;
    }
  }
  return best;
}

// What its own repeats took, else what the plan says.
double StudyState::estimate(std::size_t cell) const {
  return done(cell) > 0 ? seconds_spent(cell) / done(cell) : plan_.cells[cell].estimate_seconds;
}

int StudyState::runs_to_go() const {
  int runs = 0;
  for (std::size_t cell = 0; cell < runs_.size(); ++cell)
    if (!end_of(cell).ended()) runs += std::max(1, plan_.study.repeats.least - done(cell));
  return runs;
}

double StudyState::seconds_to_go() const {
  double measured = 0, estimated = 0, to_go = 0;
  for (std::size_t cell = 0; cell < runs_.size(); ++cell) {
    measured += seconds_spent(cell);
    estimated += done(cell) * plan_.cells[cell].estimate_seconds;
  }
  const double correction = measured > 0 && estimated > 0 ? measured / estimated : 1;
  for (std::size_t cell = 0; cell < runs_.size(); ++cell) {
    if (end_of(cell).ended()) continue;
    const int runs = std::max(1, plan_.study.repeats.least - done(cell));
    to_go += runs * (done(cell) > 0 ? estimate(cell) : correction * estimate(cell));
  }
  return to_go;
}

}  // namespace lockstep::lab
