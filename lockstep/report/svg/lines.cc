// Lines and scatters: a frame with ticks, error bars, lines and marks whose shape tells series apart in
// print.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lockstep/report/svg/draw.h"
#include "lockstep/report/svg/element.h"
#include "lockstep/report/svg/scale.h"

namespace lockstep::report {
namespace {

constexpr double kTop = 26, kPlotHeight = 200;

struct Frame {
  Scale x, y;
  DisplayUnit x_unit, y_unit;
  std::vector<Tick> x_ticks, y_ticks;
};

std::vector<double> values_of(const Chart& chart, bool horizontal) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      values.push_back(horizontal ? point.x : point.y);
      if (!horizontal && point.interval) {
        values.push_back(point.interval->low);
        if (std::isfinite(point.interval->high)) values.push_back(point.interval->high);
      }
    }
  if (!horizontal)
    for (const ChartRule& rule : chart.rules) values.push_back(rule.value);
  if ((horizontal ? chart.x : chart.y).log) std::erase_if(values, [](double value) { return value <= 0; });
  return values;
}

// Few different values, as of workers or batches, are their own ticks.
std::vector<double> own_ticks(const Chart& chart) {
  constexpr std::size_t kMost = 12;
  const std::vector<double> values = values_of(chart, true);
  const std::set<double> different(values.begin(), values.end());
  const bool whole = std::all_of(different.begin(), different.end(),
                                 [](double value) { return value == std::floor(value); });
  if (different.size() > kMost || !whole) return {};
  return {different.begin(), different.end()};
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

AxisRange horizontal_range(const Chart& chart) {
  const std::vector<double> values = values_of(chart, true);
  if (values.empty()) return {0, 1};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least != *most) return {*least, *most};
  return chart.x.log ? AxisRange{*least / 2, *most * 2} : AxisRange{*least - 1, *most + 1};
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.text, kTickPixels));
  return width;
}

Frame make_frame(const Chart& chart) {
  Frame frame;
  const std::vector<double> heights = values_of(chart, false);
  frame.x_unit = display_unit(chart.x.unit, largest(values_of(chart, true)));
  frame.y_unit = display_unit(chart.y.unit, std::max(chart.y.largest, largest(heights)));
  const AxisRange y = range_for(heights, chart.y.log, false);
  frame.y = {y.low, y.high, chart.y.log, kTop + kPlotHeight, kTop};
  frame.y_ticks = ticks_for(frame.y, frame.y_unit, false, {});
  const AxisRange x = horizontal_range(chart);
  const double left = 10 + widest(frame.y_ticks);
  frame.x = {x.low, x.high, chart.x.log, left + 10, kChartWidth - 26};
  frame.x_ticks = ticks_for(frame.x, frame.x_unit, true, own_ticks(chart));
  return frame;
}

std::string tick_element(const Tick& tick, bool horizontal, double x, double y) {
  return element("text",
                 {{"x", pixels(x)},
                  {"y", pixels(y)},
                  {"text-anchor", horizontal ? "middle" : "end"},
                  {"class", "tick"},
                  {horizontal ? "data-tick-x" : "data-tick-y", exact_text(tick.value)}},
                 escape(tick.text));
}

std::string draw_frame(const Chart& chart, const Frame& frame) {
  const double left = frame.x.from_pixel - 8, right = frame.x.to_pixel + 8, bottom = kTop + kPlotHeight;
  std::string body = text_element(4, 14, axis_title(chart.y, frame.y_unit), "start", "label");
  for (const Tick& tick : frame.y_ticks) {
    const double y = frame.y.at(tick.value);
    body += line_element(left, y, right, y, "grid") + tick_element(tick, false, left - 4, y + 4);
  }
  body += line_element(left, bottom, right, bottom, "axis");
  for (const Tick& tick : frame.x_ticks) {
    const double x = frame.x.at(tick.value);
    body += line_element(x, bottom, x, bottom + 4, "axis") + tick_element(tick, true, x, bottom + 17);
  }
  return body + text_element(right, bottom + 35, axis_title(chart.x, frame.x_unit), "end", "label");
}

bool is_drawable(const Frame& frame, const ChartPoint& point) {
  return (!frame.x.log || point.x > 0) && (!frame.y.log || point.y > 0);
}

std::string error_bar(const Frame& frame, const ChartPoint& point) {
  if (!point.interval || point.interval->low == point.interval->high) return "";
  const double x = frame.x.at(point.x);
  const double low =
      frame.y.at(frame.y.log ? std::max(point.interval->low, frame.y.low) : point.interval->low);
  const bool open = std::isinf(point.interval->high);
  const double high = frame.y.at(open ? frame.y.high : point.interval->high);
  const std::string end =
      open ? line_element(x - 3, high + 5, x, high, "error") + line_element(x + 3, high + 5, x, high, "error")
           : line_element(x - 3, high, x + 3, high, "error");
  return line_element(x, low, x, high, "error") + line_element(x - 3, low, x + 3, low, "error") + end;
}

std::string draw_point(const Chart& chart, const Frame& frame, std::size_t index, const ChartPoint& point) {
  const ChartSeries& series = chart.series[index];
  const double x = frame.x.at(point.x), y = frame.y.at(point.y);
  Attributes attributes = data_of(index, point);
  attributes.insert(attributes.begin(), {"class", point.oversubscribed ? "mark hollow" : "mark"});
  attributes.insert(attributes.end(), {{"data-px", pixels(x)}, {"data-py", pixels(y)}});
  return element("g", attributes,
                 element("title", {}, escape(tip_of(chart, series, point))) + error_bar(frame, point) +
                     marker(style_of(chart, index), x, y));
}

std::string draw_series(const Chart& chart, const Frame& frame, std::size_t index) {
  std::string path, marks;
  for (const ChartPoint& point : chart.series[index].points) {
    if (!is_drawable(frame, point)) continue;
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", pixels(frame.x.at(point.x)),
                        pixels(frame.y.at(point.y)));
    marks += draw_point(chart, frame, index, point);
  }
  if (path.empty()) return "";
  const std::string line =
      chart.kind == ChartKind::line ? element("path", {{"d", path}, {"class", "line"}}) : "";
  return element("g",
                 {{"class", "series " + series_class(chart, index)}, {"data-legend", std::to_string(index)}},
                 line + marks);
}

std::string draw_extras(const Chart& chart, const Frame& frame) {
  std::string body;
  for (const ChartRule& rule : chart.rules) {
    const double y = frame.y.at(rule.value);
    body += line_element(frame.x.from_pixel - 8, y, frame.x.to_pixel + 8, y, "rule");
  }
  for (const ChartMark& mark : chart.marks)
    body += element("circle",
                    {{"cx", pixels(frame.x.at(mark.x))},
                     {"cy", pixels(frame.y.at(mark.y))},
                     {"r", "8"},
                     {"class", "ring"}},
                    element("title", {}, escape(mark.label)));
  return body;
}

}  // namespace

// Four shapes.
std::string marker(std::size_t style, double x, double y) {
  const std::string cx = pixels(x), cy = pixels(y);
  switch (style % 4) {
    case 0:
      return element("circle", {{"cx", cx}, {"cy", cy}, {"r", "3.5"}});
    case 1:
      return rect_element(x - 3.2, y - 3.2, 6.4, 6.4, {});
    case 2:
      return element("path", {{"d", fmt::format("M{} {}l4 7h-8z", cx, pixels(y - 4.5))}});
    default:
      return element("path", {{"d", fmt::format("M{} {}l4.2 4.5l-4.2 4.5l-4.2 -4.5z", cx, pixels(y - 4.5))}});
  }
}

Drawing draw_lines(const Chart& chart) {
  const Frame frame = make_frame(chart);
  Drawing drawing{draw_frame(chart, frame), kTop + kPlotHeight + 42};
  for (std::size_t i = 0; i < chart.series.size(); ++i) drawing.body += draw_series(chart, frame, i);
  drawing.body += draw_extras(chart, frame);
  return drawing;
}

}  // namespace lockstep::report
