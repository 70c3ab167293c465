#include "lockstep/report/model/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace lockstep::report {
namespace {

TableValue axis_value(const ChartAxis& axis, double at) {
  if (axis.categories.empty()) return count(at);
  return word(axis.categories.at(static_cast<std::size_t>(at)));
}

TableValue point_value(const Chart& chart, const ChartPoint& point) {
  if (chart.kind == ChartKind::heat_map) return value(point.value);
  return value(std::optional(Number{point.y, point.interval, 1}));
}

Table heat_table(const Chart& chart) {
  Table table{chart.name, chart.title};
  table.columns.push_back({"row", chart.y.label});
  for (const std::string& category : chart.x.categories)
    table.columns.push_back({category, category, chart.y.unit});
  for (std::size_t row = 0; row < chart.y.categories.size(); ++row) {
    std::vector<TableValue> cells(chart.x.categories.size() + 1);
    cells[0] = word(chart.y.categories[row]);
    for (const ChartPoint& point : chart.series.front().points)
      if (static_cast<std::size_t>(point.y) == row)
        cells[static_cast<std::size_t>(point.x) + 1] = point_value(chart, point);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

Range range_of(const Chart& chart, const ChartSeries& series) {
  Range range;
  for (const ChartPoint& point : series.points) {
    const double at = chart.kind == ChartKind::heat_map ? point.value.value_or(0) : point.y;
    range.low = std::min(range.low, at);
    range.high = std::max(range.high, at);
  }
  return range;
}

std::string range_text(const Chart& chart, const ChartSeries& series) {
  const Range range = range_of(chart, series);
  const std::string name = series.name.empty() ? "values" : series.name;
  if (range.low == range.high) return fmt::format("{}: {}", name, with_unit(range.low, chart.y.unit));
  return fmt::format("{}: {} to {}", name, with_unit(range.low, chart.y.unit),
                     with_unit(range.high, chart.y.unit));
}

template <class Predicate>
bool any_point(const Chart& chart, Predicate is) {
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const ChartSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(), is);
  });
}

bool has_oversubscribed(const Chart& chart) {
  return any_point(chart, [](const ChartPoint& point) { return point.oversubscribed; });
}

bool has_unbounded(const Chart& chart) {
  return any_point(
      chart, [](const ChartPoint& point) { return point.interval && std::isinf(point.interval->high); });
}

// Whether nobody could tell the two apart in the drawing.
bool coincide(const ChartSeries& one, const ChartSeries& other, double least_difference) {
  return !one.points.empty() &&
         std::equal(one.points.begin(), one.points.end(), other.points.begin(), other.points.end(),
                    [&](const ChartPoint& first, const ChartPoint& second) {
                      return first.x == second.x && std::abs(first.y - second.y) <= least_difference;
                    });
}

double height_of(const Chart& chart) {
  Range all;
  for (const ChartSeries& series : chart.series) {
    const Range range = range_of(chart, series);
    all.low = std::min(all.low, range.low);
    all.high = std::max(all.high, range.high);
  }
  return all.high - all.low;
}

// "3 series coincide: a; b; c." for each set of them.
std::string coinciding_note(const Chart& chart) {
  constexpr double kIndistinct = 0.002;  // of the chart's height
  const double least = chart.y.log ? 0 : kIndistinct * height_of(chart);
  std::set<std::size_t> told;
  std::string note;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (chart.series[i].reference || told.contains(i)) continue;
    std::string names = chart.series[i].name;
    std::size_t count = 1;
    for (std::size_t j = i + 1; j < chart.series.size(); ++j)
      if (!chart.series[j].reference && !told.contains(j) &&
          coincide(chart.series[i], chart.series[j], least)) {
        names += "; " + chart.series[j].name;
        ++count;
        told.insert(j);
      }
    if (count > 1) note += fmt::format("{}{} series coincide: {}.", note.empty() ? "" : " ", count, names);
  }
  return note;
}

void add_note(Chart& chart, const std::string& more) {
  if (!more.empty()) chart.note += (chart.note.empty() ? "" : " ") + more;
}

}  // namespace

void note_marks(Chart& chart) {
  if (has_oversubscribed(chart))
    add_note(chart, chart.kind == ChartKind::heat_map ? "*: oversubscribed, more workers than cores."
                                                      : "Hollow: oversubscribed, more workers than cores.");
  if (has_unbounded(chart))
    add_note(chart, "An arrow: the noise is so large that the interval has no upper end.");
  if (chart.kind == ChartKind::line) add_note(chart, coinciding_note(chart));
}

bool Chart::empty() const {
  return std::all_of(series.begin(), series.end(), [](const auto& one) { return one.points.empty(); });
}

std::string_view name_of(ChartKind kind) {
  switch (kind) {
    case ChartKind::line:
      return "line";
    case ChartKind::scatter:
      return "scatter";
    case ChartKind::bar:
      return "bar";
    case ChartKind::stacked_bar:
      return "stacked_bar";
    case ChartKind::heat_map:
      return "heat_map";
  }
  return "";
}

Table table_of(const Chart& chart) {
  if (chart.kind == ChartKind::heat_map) return heat_table(chart);
  Table table{chart.name, chart.title};
  table.columns.push_back({"x", chart.x.label, chart.x.unit});
  for (const ChartSeries& series : chart.series)
    table.columns.push_back({series.name, series.name.empty() ? chart.y.label : series.name, chart.y.unit});
  std::set<double> positions;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) positions.insert(point.x);
  for (const double at : positions) {
    std::vector<TableValue> row = {axis_value(chart.x, at)};
    for (const ChartSeries& series : chart.series) {
      const auto found = std::find_if(series.points.begin(), series.points.end(),
                                      [&](const ChartPoint& point) { return point.x == at; });
      row.push_back(found == series.points.end() ? TableValue{} : point_value(chart, *found));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string description_of(const Chart& chart) {
  std::string text = fmt::format("{} by {}. ", chart.y.label, chart.x.label);
  if (chart.kind == ChartKind::heat_map)
    text = fmt::format("{} by {} and {}. ", chart.title, chart.y.label, chart.x.label);
  constexpr std::size_t kMost = 8;
  std::size_t told = 0;
  for (const ChartSeries& series : chart.series) {
    if (series.points.empty() || told++ == kMost) continue;
    text += range_text(chart, series) + ". ";
  }
  if (has_oversubscribed(chart))
    text += "Some points are of oversubscribed runs, with more workers than cores. ";
  text += "The table beside it holds every number.";
  return text;
}

}  // namespace lockstep::report
