// Bars and stacked bars lie on their side: the name of each stands above it, so that no name is ever clipped
// or turned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/report/svg/draw.h"
#include "lockstep/report/svg/element.h"
#include "lockstep/report/svg/scale.h"

namespace lockstep::report {
namespace {

constexpr double kRowsTop = 4, kLeft = 8, kRight = 30, kLine = 15, kBar = 12, kGap = 8;

struct Rows {
  std::vector<std::vector<std::string>> names;  // of each category, broken into lines
  std::vector<double> tops;
  double bottom = 0;
};

double bars_height(const Chart& chart) {
  return chart.kind == ChartKind::stacked_bar ? kBar + 2
                                              : static_cast<double>(chart.series.size()) * (kBar + 1);
}

Rows lay_out(const Chart& chart) {
  Rows rows;
  double y = kRowsTop;
  for (const std::string& category : chart.x.categories) {
    rows.names.push_back(wrap(category, kChartWidth - kLeft - kRight));
    rows.tops.push_back(y);
    y += static_cast<double>(rows.names.back().size()) * kLine + bars_height(chart) + kGap;
  }
  rows.bottom = y;
  return rows;
}

double sum_at(const Chart& chart, double category) {
  double sum = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      if (point.x == category) sum += std::max(0.0, point.y);
  return sum;
}

std::vector<double> lengths_of(const Chart& chart) {
  std::vector<double> lengths = {0};
  for (std::size_t i = 0; i < chart.x.categories.size(); ++i)
    if (chart.kind == ChartKind::stacked_bar) lengths.push_back(sum_at(chart, static_cast<double>(i)));
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      lengths.push_back(point.y);
      // Stacked bars show no intervals: none may stretch the scale.
      if (point.interval && chart.kind != ChartKind::stacked_bar && std::isfinite(point.interval->high))
        lengths.push_back(point.interval->high);
    }
  for (const ChartRule& rule : chart.rules) lengths.push_back(rule.value);
  if (chart.y.log) std::erase_if(lengths, [](double length) { return length <= 0; });
  return lengths;
}

Scale make_scale(const Chart& chart) {
  const std::vector<double> lengths = lengths_of(chart);
  AxisRange range = range_for(lengths, chart.y.log, true);
  if (chart.y.log) range.low = std::pow(10, std::floor(std::log10(range.low)));
  return {range.low, range.high, chart.y.log, kLeft, kChartWidth - kRight};
}

std::string error_bar(const Scale& scale, const ChartPoint& point, double y) {
  if (!point.interval || point.interval->low == point.interval->high) return "";
  const double low = scale.at(std::max(point.interval->low, scale.low)),
               high = scale.at(std::min(point.interval->high, scale.high));
  const std::string end =
      std::isinf(point.interval->high)
          ? line_element(high - 5, y - 3, high, y, "error") + line_element(high - 5, y + 3, high, y, "error")
          : line_element(high, y - 3, high, y + 3, "error");
  return line_element(low, y, high, y, "error") + line_element(low, y - 3, low, y + 3, "error") + end;
}

// One bar from `from` to `to` in pixels.
std::string bar(const Chart& chart, std::size_t series, const ChartPoint& point, double from, double to,
                double y, const std::string& error) {
  Attributes attributes = data_of(series, point);
  attributes.insert(attributes.begin(), {"class", (point.oversubscribed ? "mark hollow " : "mark ") +
                                                      series_class(chart, series)});
  attributes.push_back({"data-legend", std::to_string(series)});
  attributes.push_back({"data-length", pixels(to - from)});
  return element("g", attributes,
                 element("title", {}, escape(tip_of(chart, chart.series[series], point))) +
                     rect_element(from, y, std::max(0.0, to - from), kBar, {{"class", "bar"}}) + error);
}

std::string draw_category(const Chart& chart, const Scale& scale, std::size_t category, double y) {
  std::string body;
  double stacked = 0;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const double row = chart.kind == ChartKind::stacked_bar ? y : y + static_cast<double>(i) * (kBar + 1);
    for (const ChartPoint& point : chart.series[i].points) {
      if (point.x != static_cast<double>(category)) continue;
      const bool stack = chart.kind == ChartKind::stacked_bar;
      const double base = stack ? stacked : scale.low;
      const double end = stack ? stacked + std::max(0.0, point.y) : std::max(point.y, scale.low);
      body += bar(chart, i, point, scale.at(base), scale.at(end), row,
                  stack ? "" : error_bar(scale, point, row + kBar / 2));
      stacked = stack ? end : 0;
    }
  }
  return body;
}

std::string draw_ticks(const Chart& chart, const Scale& scale, double bottom) {
  const DisplayUnit unit = display_unit(chart.y.unit, scale.high);
  std::string body = text_element(kChartWidth - 8, bottom + 31, axis_title(chart.y, unit), "end", "label");
  for (const Tick& tick : ticks_for(scale, unit, true, {})) {
    const double x = scale.at(tick.value);
    body +=
        line_element(x, kRowsTop, x, bottom, "grid") + element("text",
                                                               {{"x", pixels(x)},
                                                                {"y", pixels(bottom + 14)},
                                                                {"text-anchor", x < 30 ? "start" : "middle"},
                                                                {"class", "tick"},
                                                                {"data-tick-y", exact_text(tick.value)},
                                                                {"data-at", pixels(x)}},
                                                               escape(tick.text));
  }
  return body;
}

}  // namespace

Drawing draw_bars(const Chart& chart) {
  const Rows rows = lay_out(chart);
  const Scale scale = make_scale(chart);
  Drawing drawing{draw_ticks(chart, scale, rows.bottom), rows.bottom + 38};
  for (std::size_t i = 0; i < rows.names.size(); ++i) {
    double y = rows.tops[i];
    for (const std::string& line : rows.names[i]) {
      y += kLine;
      drawing.body += text_element(kLeft, y - 4, line, "start", "label");
    }
    drawing.body += draw_category(chart, scale, i, y);
  }
  for (const ChartRule& rule : chart.rules)
    drawing.body += line_element(scale.at(rule.value), kRowsTop, scale.at(rule.value), rows.bottom, "rule");
  return drawing;
}

}  // namespace lockstep::report
