// Where time, bytes and memory went: bars over cells.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lockstep/base/text.h"
#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/gradient_traffic.h"
#include "lockstep/report/model/primitives.h"
#include "lockstep/report/model/targets.h"

namespace lockstep::report {
namespace {

NamedValue figure_value(const std::string& name, std::string_view figure_name) {
  return {name, [figure_name](const GridCell& cell) { return figure(cell, figure_name); }};
}

Charts unless_empty(Chart chart) {
  if (chart.empty()) return {};
  return {std::move(chart)};
}

Chart purposes_chart(const Grid& grid, const std::string& title,
                     std::optional<Number> (*of)(const GridCell&, std::string_view)) {
  Chart chart{"bytes", ChartKind::stacked_bar, title};
  chart.y = {"bytes of the run", "B"};
  std::vector<NamedValue> values;
  for (const std::string_view purpose : kPurposes)
    values.push_back(
        {std::string(purpose), [of, purpose](const GridCell& cell) { return of(cell, purpose); }});
  return bars_over_cells(grid, chart, values);
}

// Means nothing for one worker: it has no link.
CellValue of_several(CellValue of) {
  return [of](const GridCell& cell) { return cell.workers > 1 ? of(cell) : std::nullopt; };
}

// Means nothing where no gradient is sent: localsgd sends weights.
CellValue of_gradient(CellValue of) {
  return [of](const GridCell& cell) { return gradient_collective(cell) ? of(cell) : std::nullopt; };
}

std::vector<ChartRule> caps_of(const Grid& grid) {
  std::set<double> caps;
  for (const GridCell& cell : grid.cells)
    if (const auto cap = memory_cap(cell))
      caps.insert(cap->value);
    else if (const auto failed = cap_of_failure(cell))
      caps.insert(*failed);
  std::vector<ChartRule> rules;
  for (const double cap : caps) rules.push_back({"cap", cap});
  return rules;
}

// A bar is of the runs that reached the target; where those are not all, it says so.
std::string partly_note(const Grid& grid, const lab::Target& target) {
  std::vector<std::string> cells;
  for (const GridCell& cell : grid.cells)
    if (runs_that_reached(cell, target) > 0 && !is_reached(cell, target))
      cells.push_back(fmt::format("{} ({} runs)", cell.label, reached_text(cell, target)));
  return cells.empty() ? ""
                       : "Of the runs that reached it, which were not all: " + base::join(cells, "; ") + ".";
}

}  // namespace

Charts split_charts(const Subject& subject) {
  Chart chart{"split", ChartKind::stacked_bar, "Where the time of a step went"};
  chart.y = {"a step", "s"};
  std::vector<NamedValue> values;
  for (const Span& span : kSpans)
    values.push_back({span.words, [&span](const GridCell& cell) { return span_seconds(cell, span); }});
  return unless_empty(bars_over_cells(subject.grid, chart, values));
}

Charts bytes_charts(const Subject& subject) {
  Charts charts = unless_empty(purposes_chart(subject.grid, "Payload by purpose", payload_of));
  for (Chart& chart : unless_empty(purposes_chart(subject.grid, "Wire bytes by purpose, all ranks", wire_of)))
    charts.push_back(std::move(chart));
  return charts;
}

Charts exposure_charts(const Subject& subject) {
  Chart chart{"exposure", ChartKind::bar, "Communication of a step"};
  chart.y = {"a step", "s"};
  chart.note =
      "Exposed: what the step waited for communication, packing and waiting to start included. Hidden: busy "
      "less exposed, not below zero. Peer wait: the part of busy spent waiting for the last rank.";
  return unless_empty(bars_over_cells(subject.grid, chart,
                                      {{"exposed", of_several(figure_value("", "exposed_seconds").of)},
                                       {"hidden", of_several(hidden_seconds)},
                                       {"peer wait", of_several(figure_value("", "peer_wait_seconds").of)}}));
}

Charts bandwidth_charts(const Subject& subject) {
  Chart rates{"bandwidth", ChartKind::bar, "Bandwidth of the gradient's collective"};
  rates.y = {"bandwidth", "B/s"};
  Charts charts =
      unless_empty(bars_over_cells(subject.grid, rates,
                                   {{"algorithm", of_gradient(figure_value("", "algorithm_bandwidth").of)},
                                    {"bus", of_gradient(figure_value("", "bus_bandwidth").of)},
                                    {"link's peak", of_gradient(link_peak)}}));
  const bool peak = is_peak_known(subject.grid);
  if (!peak && !charts.empty())
    charts.back().note = "No peak of the link is known, so none is drawn beside them.";
  Chart times{"bandwidth", ChartKind::bar,
              std::string("Time of the gradient's collective") + (peak ? " against the ring formula" : "")};
  times.y = {"a step", "s"};
  times.note = fmt::format(
      "Of the whole run with its warm-up, as the bandwidth is. {}",
      peak ? fmt::format("The bound is payload / the link's peak, where that was measured, times {}.",
                         bus_factors_text(subject.grid))
           : "No peak of the link is known, so the ring formula has no bound to give.");
  for (Chart& chart : unless_empty(bars_over_cells(subject.grid, times,
                                                   {{"without peer wait", gradient_transfer_seconds},
                                                    {"ring formula's bound", gradient_bound_seconds}})))
    charts.push_back(std::move(chart));
  return charts;
}

Charts memory_charts(const Subject& subject) {
  Chart chart{"memory", ChartKind::stacked_bar, "Peak memory of the worst rank, by use"};
  chart.y = {"memory", "B"};
  std::vector<NamedValue> values;
  for (const std::string_view use : kMemoryUses)
    values.push_back({std::string(use), [use](const GridCell& cell) { return memory_use(cell, use); }});
  values.push_back({"needed (ran out of memory)", [](const GridCell& cell) -> std::optional<Number> {
                      const auto needed = needed_bytes(cell);
                      return needed ? std::optional(Number{*needed, std::nullopt, 1}) : std::nullopt;
                    }});
  chart.rules = caps_of(subject.grid);
  return unless_empty(bars_over_cells(subject.grid, chart, values));
}

Charts minutes_charts(const Subject& subject) {
  Chart chart{"minutes", ChartKind::stacked_bar, "The whole job"};
  chart.y = {"time", "s"};
  Charts charts = unless_empty(bars_over_cells(subject.grid, chart,
                                               {figure_value("launch", "launch_seconds"),
                                                figure_value("load", "load_seconds"),
                                                figure_value("train", "train_seconds"),
                                                figure_value("validate", "validate_seconds"),
                                                {rest_heading(subject.grid), rest_seconds}}));
  Chart loss{"minutes", ChartKind::line, "Final training loss by workers"};
  loss.y = {"train loss"};
  for (Chart& by_workers : along_axis(subject.grid, loss, "workers",
                                      [](const GridCell& cell) { return figure(cell, "train_loss"); })) {
    choose_log(by_workers);
    charts.push_back(std::move(by_workers));
  }
  return charts;
}

Charts target_charts(const Subject& subject) {
  Charts charts;
  for (const lab::Target& target : targets_of(subject.study, subject.grid)) {
    Chart chart{"targets", ChartKind::bar, "Epochs until " + target_text(target)};
    chart.y = {"epochs"};
    chart.note = partly_note(subject.grid, target);
    const Chart bars = bars_over_cells(
        subject.grid, chart, {{"", [&](const GridCell& cell) { return epochs_until(cell, target); }}});
    if (!bars.empty()) charts.push_back(bars);
  }
  return charts;
}

Charts primitives_charts(const Subject& subject) {
  Chart chart{"primitives", ChartKind::stacked_bar, "dp's primitives, a step"};
  chart.y = {"a step", "s"};
  std::vector<NamedValue> values;
  for (const std::string& name : primitive_names(subject.grid))
    values.push_back({name, [name](const GridCell& cell) { return primitive_seconds(cell, name); }});
  return unless_empty(bars_over_cells(subject.grid, chart, values));
}

}  // namespace lockstep::report
