// What changed while runs went on: loss, accuracy, PSNR.
#include <algorithm>
#include <cmath>
#include <map>

#include "lockstep/base/counted.h"
#include "lockstep/base/text.h"
#include "lockstep/report/charts/charts.h"
#include "lockstep/report/model/last_epoch.h"

namespace lockstep::report {
namespace {

using record::EpochFigures;
using record::RunRecord;

constexpr std::size_t kMostCharts = 6;
constexpr std::size_t kMostAxesCharts = 4;  // of a report without a study

// A figure of each epoch, over those of the cell's repeats that have it. By its number: the epochs of a
// resumed run do not begin with the first.
std::map<std::int64_t, std::vector<double>> figures_by_epoch(const GridCell& cell, EpochValue member) {
  std::map<std::int64_t, std::vector<double>> figures;
  for (const RunRecord& run : cell.runs)
    for (const EpochFigures& epoch : run.epochs)
      if (epoch.*member) figures[epoch.epoch].push_back(*(epoch.*member));
  return figures;
}

ChartSeries epoch_series(const Grid& grid, const GridCell& cell, EpochValue member, double factor) {
  ChartSeries series = series_of(grid, cell, cell.label, {});
  for (const auto& [epoch, figures] : figures_by_epoch(cell, member))
    if (const auto point = point_at(static_cast<double>(epoch), scaled(*estimate(figures), factor)))
      series.points.push_back(*point);
  return series;
}

// That a run stopped inside an epoch, where some point is of such a one.
void note_unfinished(Chart& chart, const Grid& grid, EpochValue member) {
  const auto has_any = [&](const RunRecord& run) {
    return std::any_of(run.epochs.begin(), run.epochs.end(), [&](const EpochFigures& epoch) {
      return epoch.unfinished.value_or(false) && (epoch.*member).has_value();
    });
  };
  std::size_t cells = 0;
  for (const GridCell& cell : grid.cells) cells += std::any_of(cell.runs.begin(), cell.runs.end(), has_any);
  if (cells == 0) return;
  chart.note += chart.note.empty() ? "" : " ";
  chart.note += "The last point of a run that stopped inside an epoch is of the part that it did (" +
                base::counted(cells, "cell") + ").";
}

Charts epoch_charts(const Subject& subject, Chart chart, EpochValue member, double factor = 1) {
  chart.x = {"epoch"};
  note_unfinished(chart, subject.grid, member);
  for (const GridCell& cell : subject.grid.cells)
    chart.series.push_back(epoch_series(subject.grid, cell, member, factor));
  if (chart.y.unit.empty()) choose_log(chart);
  return in_pages(chart);
}

// Seconds of a resumed run are those since it went on: what came before is another record's.
std::string resumed_note(const Grid& grid) {
  const bool any = std::any_of(grid.cells.begin(), grid.cells.end(), [](const GridCell& cell) {
    return !cell.runs.empty() && was_resumed(cell.runs.front());
  });
  return any ? " Seconds of a resumed run are those since it was resumed." : "";
}

// Seconds of workers that take turns are marked; their losses are as good as any.
ChartSeries second_series(const Grid& grid, const GridCell& cell, EpochValue member) {
  ChartSeries series = series_of(grid, cell, cell.label, {});
  if (cell.runs.empty()) return series;
  double seconds = 0;
  for (const EpochFigures& epoch : cell.runs.front().epochs) {
    seconds += epoch.seconds;
    const auto number = epoch.*member;
    if (number && std::isfinite(*number))
      series.points.push_back({seconds, *number, std::nullopt, std::nullopt, cell.oversubscribed});
  }
  return series;
}

void append(Charts& charts, Charts more) {
  charts.insert(charts.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The rank's own training loss in each epoch of a run.
Chart rank_chart(const GridCell& cell) {
  Chart chart{"loss-by-rank", ChartKind::line, "Training loss of each rank: " + cell.label};
  chart.x = {"epoch"};
  chart.y = {"train loss"};
  for (const EpochFigures& epoch : cell.runs.front().epochs)
    for (const record::EpochRankFigures& rank : epoch.per_rank) {
      if (!rank.train_loss || !std::isfinite(*rank.train_loss)) continue;
      const auto index = static_cast<std::size_t>(rank.rank);
      while (chart.series.size() <= index)
        chart.series.push_back({"rank " + std::to_string(chart.series.size())});
      chart.series[index].points.push_back({static_cast<double>(epoch.epoch), *rank.train_loss});
    }
  return chart;
}

std::string not_finite_note(const Grid& grid) {
  for (const GridCell& cell : grid.cells)
    for (const RunRecord& run : cell.runs)
      for (const EpochFigures& epoch : run.epochs)
        if (epoch.train_loss && !std::isfinite(*epoch.train_loss))
          return "Losses that are not finite cannot be drawn; the tables say where they are.";
  return "";
}

}  // namespace

Charts epoch_loss_charts(const Subject& subject) {
  Chart train{"loss-by-epoch", ChartKind::line, "Training loss by epoch"};
  train.y = {"train loss"};
  train.note = not_finite_note(subject.grid);
  Charts charts = epoch_charts(subject, train, &EpochFigures::train_loss);
  Chart val{"loss-by-epoch", ChartKind::line, "Validation loss by epoch"};
  val.y = {"val loss"};
  append(charts, epoch_charts(subject, val, &EpochFigures::val_loss));
  return charts;
}

Charts second_loss_charts(const Subject& subject) {
  Charts charts;
  const std::pair<const char*, EpochValue> kinds[] = {{"Training", &EpochFigures::train_loss},
                                                      {"Validation", &EpochFigures::val_loss}};
  for (const auto& [word, member] : kinds) {
    Chart chart{"loss-by-second", ChartKind::line, std::string(word) + " loss by second"};
    chart.x = {"training", "s"};
    chart.y = {member == &EpochFigures::train_loss ? "train loss" : "val loss"};
    chart.note = "Of the first repeat of each cell." + resumed_note(subject.grid);
    note_unfinished(chart, subject.grid, member);
    for (const GridCell& cell : subject.grid.cells)
      chart.series.push_back(second_series(subject.grid, cell, member));
    choose_log(chart);
    append(charts, in_pages(chart));
  }
  return charts;
}

Charts rank_loss_charts(const Subject& subject) {
  Charts charts;
  std::size_t left_out = 0;
  for (const GridCell& cell : subject.grid.cells) {
    if (cell.runs.empty() || cell.workers < 2) continue;
    const Chart chart = rank_chart(cell);
    if (chart.series.size() < 2) continue;
    if (charts.size() < kMostCharts)
      append(charts, in_pages(chart));
    else
      ++left_out;
  }
  if (left_out > 0)
    charts.back().note = "Losses by rank of " + base::counted(left_out, "more cell") + " are in the records.";
  return charts;
}

Charts accuracy_charts(const Subject& subject) {
  Charts charts;
  const std::pair<const char*, EpochValue> kinds[] = {{"Validation", &EpochFigures::val_accuracy},
                                                      {"Training", &EpochFigures::train_accuracy}};
  for (const auto& [word, member] : kinds) {
    Chart chart{"accuracy", ChartKind::line, std::string(word) + " accuracy by epoch"};
    chart.y = {"accuracy", "%"};
    append(charts, epoch_charts(subject, chart, member, 100));
  }
  return charts;
}

Charts psnr_charts(const Subject& subject) {
  Chart chart{"psnr", ChartKind::line, "Validation PSNR by epoch"};
  chart.y = {"PSNR", "dB"};
  return epoch_charts(subject, chart, &EpochFigures::val_psnr);
}

namespace {

// By how much the highest y of a chart exceeds its lowest, as a share of the highest: a chart of equal
// figures says nothing.
double spread_of(const Chart& chart) {
  double least = HUGE_VAL, most = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      least = std::min(least, std::abs(point.y));
      most = std::max(most, std::abs(point.y));
    }
  return most > 0 ? (most - least) / most : 0;
}

// Of charts that nobody asked for the few in which most changes; a study that asks for them gets all.
void keep_telling(Charts& charts, std::size_t most) {
  std::erase_if(charts, [](const Chart& chart) { return spread_of(chart) < 0.02; });
  if (charts.size() <= most) return;
  const std::size_t left_out = charts.size() - most;
  std::stable_sort(charts.begin(), charts.end(),
                   [](const Chart& one, const Chart& other) { return spread_of(one) > spread_of(other); });
  charts.resize(most);
  charts.back().note = "Of the figures by axis those that change the most are drawn; " +
                       base::counted(left_out, "more chart") + " would show what the table holds.";
}

}  // namespace

Charts axes_charts(const Subject& subject) {
  struct Against {
    const char* figure;
    const char* title;
    ChartAxis y;
  };
  static const Against kAgainst[] = {{"compute_seconds", "Computation", {"a step", "s"}},
                                     {"exposed_seconds", "Exposed communication", {"a step", "s"}},
                                     {"payload_bytes", "Payload", {"bytes of the run", "B"}},
                                     {"train_loss", "Training loss", {"train loss"}}};
  Charts charts;
  for (const GridAxis& axis : subject.grid.axes)
    for (const Against& against : kAgainst) {
      Chart chart{"axes", ChartKind::line, std::string(against.title) + " by " + base::spaced(axis.name)};
      chart.y = against.y;
      append(charts, along_axis(subject.grid, chart, axis.name,
                                [&](const GridCell& cell) { return figure(cell, against.figure); }));
    }
  if (subject.study == nullptr) keep_telling(charts, kMostAxesCharts);
  return charts;
}

}  // namespace lockstep::report
