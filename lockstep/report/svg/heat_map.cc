// Heat maps: the number stands in each field; its tint only helps the eye.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/report/svg/draw.h"
#include "lockstep/report/svg/element.h"

namespace lockstep::report {
namespace {

constexpr double kMapTop = 26, kRow = 30;

double label_width(const Chart& chart) {
  double width = 0;
  for (const std::string& category : chart.y.categories)
    width = std::max(width, text_width(category, kTickPixels));
  return std::min(width + 12, kChartWidth / 3);
}

double largest(const Chart& chart) {
  double most = 0;
  for (const ChartPoint& point : chart.series.front().points) most = std::max(most, point.value.value_or(0));
  return most;
}

std::string field(const Chart& chart, const ChartPoint& point, const DisplayUnit& unit, double left,
                  double width, double most) {
  const double x = left + point.x * width, y = kMapTop + point.y * kRow;
  const double tint = most > 0 ? std::clamp(point.value.value_or(0) / most, 0.05, 1.0) : 0.05;
  Attributes attributes = data_of(0, point);
  attributes.insert(attributes.begin(), {"class", "mark"});
  return element("g", attributes,
                 element("title", {}, escape(tip_of(chart, chart.series.front(), point))) +
                     rect_element(x + 1, y + 1, width - 2, kRow - 2,
                                  {{"class", "heat"}, {"fill-opacity", pixels(tint)}}) +
                     text_element(x + width / 2, y + kRow / 2 + 4,
                                  display_number(point.value.value_or(0) / unit.divisor) +
                                      (point.oversubscribed ? "*" : ""),
                                  "middle", "label"));
}

}  // namespace

Drawing draw_heat_map(const Chart& chart) {
  const double left = label_width(chart);
  const double width =
      (kChartWidth - left - 8) / static_cast<double>(std::max<std::size_t>(1, chart.x.categories.size()));
  const double most = largest(chart),
               bottom = kMapTop + kRow * static_cast<double>(chart.y.categories.size());
  const DisplayUnit unit = display_unit(chart.y.unit, most);
  Drawing drawing{
      text_element(4, 14, fmt::format("{}{}", chart.title, unit.name.empty() ? "" : ", " + unit.name),
                   "start", "label"),
      bottom + 40};
  for (std::size_t i = 0; i < chart.y.categories.size(); ++i)
    drawing.body += text_element(left - 6, kMapTop + kRow * static_cast<double>(i) + kRow / 2 + 4,
                                 wrap(chart.y.categories[i], left - 6, kTickPixels).front(), "end", "tick");
  for (std::size_t i = 0; i < chart.x.categories.size(); ++i)
    drawing.body += text_element(left + width * (static_cast<double>(i) + 0.5), bottom + 14,
                                 wrap(chart.x.categories[i], width, kTickPixels).front(), "middle", "tick");
  drawing.body += text_element(kChartWidth - 8, bottom + 32, chart.x.label, "end", "label");
  for (const ChartPoint& point : chart.series.front().points)
    drawing.body += field(chart, point, unit, left, width, most);
  return drawing;
}

}  // namespace lockstep::report
