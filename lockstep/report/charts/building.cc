// What chart makers share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lockstep/report/charts/charts.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostSeries = 8;
constexpr std::size_t kMostBars = 48;

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional(number) : std::nullopt;
}

bool is_numeric(const GridAxis& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(),
                     [](const std::string& text) { return number_of(text).has_value(); });
}

bool has_any(const GridCell& cell, const std::vector<NamedValue>& values) {
  return !cell.runs.empty() && std::any_of(values.begin(), values.end(), [&](const NamedValue& value) {
    return value.of(cell).has_value();
  });
}

ChartSeries& series_named(Chart& chart, const std::string& name) {
  for (ChartSeries& series : chart.series)
    if (series.name == name) return series;
  chart.series.push_back({name});
  return chart.series.back();
}

// Numbers that at least quadruple are spread evenly by a log axis.
bool wants_log(const GridAxis& axis) {
  const double first = number_of(axis.values.front()).value_or(0);
  const double last = number_of(axis.values.back()).value_or(0);
  return std::min(first, last) > 0 && std::max(first, last) >= 4 * std::min(first, last);
}

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

std::optional<ChartPoint> point_at(double x, const std::optional<Number>& number) {
  if (!number || !std::isfinite(number->value)) return std::nullopt;
  ChartPoint point{x, number->value};
  if (number->interval && std::isfinite(number->interval->low) && std::isfinite(number->interval->high))
    point.interval = number->interval;
  return point;
}

Chart bars_over_cells(const Grid& grid, Chart chart, const std::vector<NamedValue>& values) {
  chart.x.label = "cell";
  std::size_t left_out = 0;
  for (const NamedValue& value : values) chart.series.push_back({value.name});
  for (const GridCell& cell : grid.cells) {
    if (!has_any(cell, values)) continue;
    if (chart.x.categories.size() == kMostBars) {
      ++left_out;
      continue;
    }
    const auto at = static_cast<double>(chart.x.categories.size());
    chart.x.categories.push_back(cell.label);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto point = point_at(at, values[i].of(cell))) chart.series[i].points.push_back(*point);
  }
  std::erase_if(chart.series, [](const ChartSeries& series) { return series.points.empty(); });
  if (left_out > 0)
    chart.note = fmt::format("The first {} cells; {} more are in the tables.", kMostBars, left_out);
  return chart;
}

Charts along_axis(const Grid& grid, Chart chart, const std::string& axis_name, const CellValue& of) {
  const GridAxis* axis = grid.find_axis(axis_name);
  if (axis == nullptr || axis->values.size() < 2) return {};
  const bool numeric = is_numeric(*axis);
  chart.kind = numeric ? ChartKind::line : ChartKind::bar;
  chart.x.label = axis_name == "batch_size" ? "batch per worker" : spaced(axis_name);
  chart.x.log = numeric && wants_log(*axis);
  if (!numeric) chart.x.categories = axis->values;
  for (const GridCell& cell : grid.cells) {
    const auto place = std::find(axis->values.begin(), axis->values.end(), cell.at(axis_name));
    const double x = numeric ? *number_of(*place) : static_cast<double>(place - axis->values.begin());
    if (const auto point = point_at(x, of(cell)))
      series_named(chart, label_without(grid, cell, {axis_name})).points.push_back(*point);
  }
  for (ChartSeries& series : chart.series)
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const auto& one, const auto& other) { return one.x < other.x; });
  return in_pages(chart);
}

Charts in_pages(const Chart& whole) {
  std::vector<ChartSeries> ours, references;
  for (const ChartSeries& series : whole.series)
    if (!series.points.empty()) (series.reference ? references : ours).push_back(series);
  const std::size_t pages = (ours.size() + kMostSeries - 1) / kMostSeries;
  Charts charts;
  for (std::size_t page = 0; page < pages; ++page) {
    Chart chart = whole;
    if (pages > 1) chart.title += fmt::format(" ({} of {})", page + 1, pages);
    const auto first = ours.begin() + static_cast<std::ptrdiff_t>(page * kMostSeries);
    const auto count = std::min(kMostSeries, ours.size() - page * kMostSeries);
    chart.series.assign(first, first + static_cast<std::ptrdiff_t>(count));
    chart.series.insert(chart.series.end(), references.begin(), references.end());
    charts.push_back(std::move(chart));
  }
  return charts;
}

void choose_log(Chart& chart) {
  double least = HUGE_VAL, most = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      least = std::min(least, point.y);
      most = std::max(most, point.y);
    }
  chart.y.log = least > 0 && most > 100 * least;
}

}  // namespace lockstep::report
