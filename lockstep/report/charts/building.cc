// What chart makers share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lockstep/base/counted.h"
#include "lockstep/base/text.h"
#include "lockstep/report/charts/charts.h"

namespace lockstep::report {
namespace {

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
  return cell.any() != nullptr && std::any_of(values.begin(), values.end(), [&](const NamedValue& value) {
           return value.of(cell).has_value();
         });
}

// The series of that name; made where there is none yet.
ChartSeries& series_named(Chart& chart, ChartSeries fresh) {
  for (ChartSeries& series : chart.series)
    if (series.name == fresh.name) return series;
  chart.series.push_back(std::move(fresh));
  return chart.series.back();
}

// Numbers that at least quadruple are spread evenly by a log axis.
bool wants_log(const GridAxis& axis) {
  const double first = number_of(axis.values.front()).value_or(0);
  const double last = number_of(axis.values.back()).value_or(0);
  return std::min(first, last) > 0 && std::max(first, last) >= 4 * std::min(first, last);
}

bool is_divided(const std::vector<ChartSeries>& series) {
  const auto other = [&](const ChartSeries& one) { return one.part != series.front().part; };
  return series.size() > kMostSeries && std::any_of(series.begin(), series.end(), other);
}

struct Part {
  std::string title;
  std::vector<ChartSeries> series;
};

// At most eight to a part, evenly, numbered where one name gives several.
void add_parts(std::vector<Part>& parts, const std::string& name, const std::vector<ChartSeries>& series) {
  if (series.empty()) return;
  const std::size_t pages = (series.size() + kMostSeries - 1) / kMostSeries;
  const std::size_t each = (series.size() + pages - 1) / pages;
  for (std::size_t page = 0; page < pages; ++page) {
    const auto first = series.begin() + static_cast<std::ptrdiff_t>(page * each);
    const auto count = std::min(each, series.size() - page * each);
    const std::string number = pages > 1 ? fmt::format(" ({} of {})", page + 1, pages) : "";
    parts.push_back({name + number, {first, first + static_cast<std::ptrdiff_t>(count)}});
  }
}

std::vector<Part> divide(std::vector<ChartSeries> series) {
  std::vector<Part> parts;
  if (!is_divided(series)) {
    add_parts(parts, "", series);
    return parts;
  }
  std::vector<std::pair<std::string, std::vector<ChartSeries>>> by_part;
  for (ChartSeries& one : series) {
    auto known =
        std::find_if(by_part.begin(), by_part.end(), [&](const auto& p) { return p.first == one.part; });
    if (known == by_part.end()) known = by_part.insert(by_part.end(), {one.part, {}});
    known->second.push_back(std::move(one));
  }
  for (const auto& [name, there] : by_part) add_parts(parts, ": " + name, there);
  return parts;
}

double highest_of(const ChartPoint& point) {
  return point.interval && std::isfinite(point.interval->high) ? std::abs(point.interval->high) : 0;
}

double largest_of(const Chart& chart) {
  double most = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      most = std::max({most, std::abs(point.y), highest_of(point)});
  return most;
}

}  // namespace

const std::string& inner_name(const ChartSeries& series) {
  return series.part.empty() ? series.name : series.within;
}

std::optional<ChartPoint> point_of(const GridCell& cell, double x, const std::optional<Number>& number) {
  std::optional<ChartPoint> point = point_at(x, number);
  if (point) point->oversubscribed = cell.oversubscribed;
  return point;
}

ChartSeries series_of(const Grid& grid, const GridCell& cell, const std::string& name,
                      const std::vector<std::string>& without) {
  ChartSeries series{name};
  std::vector<std::string> left_out = without;
  for (const GridAxis& axis : grid.axes) {
    if (axis.values.size() < 2 || std::find(without.begin(), without.end(), axis.name) != without.end())
      continue;
    left_out.push_back(axis.name);
    series.part = point_text(axis, cell.at(axis.name));
    series.within = label_without(grid, cell, left_out);
    break;
  }
  return series;
}

std::optional<ChartPoint> point_at(double x, const std::optional<Number>& number) {
  if (!number || !std::isfinite(number->value)) return std::nullopt;
  ChartPoint point{x, number->value};
  // An upper end may be infinite; it is drawn to the edge.
  if (number->interval && std::isfinite(number->interval->low) && !std::isnan(number->interval->high))
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
    chart.x.categories.push_back(cell.label + (cell.oversubscribed ? " (oversubscribed)" : ""));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto point = point_at(at, values[i].of(cell))) chart.series[i].points.push_back(*point);
  }
  std::erase_if(chart.series, [](const ChartSeries& series) { return series.points.empty(); });
  if (left_out > 0)
    chart.note += fmt::format("{}The first {} cells; the tables hold {}.", chart.note.empty() ? "" : " ",
                              kMostBars, base::counted(left_out, "more cell"));
  return chart;
}

Charts along_axis(const Grid& grid, Chart chart, const std::string& axis_name, const CellValue& of) {
  const GridAxis* axis = grid.find_axis(axis_name);
  if (axis == nullptr || axis->values.size() < 2) return {};
  const bool numeric = is_numeric(*axis);
  chart.kind = numeric ? ChartKind::line : ChartKind::bar;
  chart.x.label = axis_name == "batch_size" ? "batch per worker" : base::spaced(axis_name);
  chart.x.log = numeric && wants_log(*axis);
  if (!numeric) chart.x.categories = axis->values;
  for (const GridCell& cell : grid.cells) {
    const auto place = std::find(axis->values.begin(), axis->values.end(), cell.at(axis_name));
    const double x = numeric ? *number_of(*place) : static_cast<double>(place - axis->values.begin());
    if (const auto point = point_of(cell, x, of(cell)))
      series_named(chart, series_of(grid, cell, label_without(grid, cell, {axis_name}), {axis_name}))
          .points.push_back(*point);
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
  const bool divided = is_divided(ours);
  for (ChartSeries& series : ours) series.divided = divided;
  const std::vector<Part> parts = divide(std::move(ours));
  Charts charts;
  for (const Part& part : parts) {
    Chart chart = whole;
    chart.title += parts.size() > 1 ? part.title : "";
    chart.y.largest = largest_of(whole);
    chart.series = part.series;
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
