#include "lockstep/report/svg/draw.h"

#include <fmt/format.h>

#include "lockstep/report/svg/element.h"

namespace lockstep::report {
namespace {

constexpr double kLegendRow = 18;

std::string rule_text(const Chart& chart, const ChartRule& rule) {
  return rule.label + ": " + with_unit(rule.value, chart.y.unit);
}

struct LegendItem {
  std::string style_class;
  std::string text;
  std::optional<std::size_t> marker = {};  // the style whose shape it shows; a block of colour where not set
  bool dashed = false;                     // on a dashed line

  double width() const { return dashed ? kDashedKey : 12; }
};

std::vector<LegendItem> legend_of(const Chart& chart) {
  std::vector<LegendItem> items;
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    if (!chart.series[i].name.empty())
      items.push_back({series_class(chart, i), chart.series[i].name,
                       has_marker(chart) ? std::optional(style_of(chart, i)) : std::nullopt,
                       is_dashed(chart, i)});
  for (const ChartRule& rule : chart.rules) items.push_back({"rule", rule_text(chart, rule)});
  return items;
}

std::string swatch(const LegendItem& item, double x, double y) {
  if (item.marker)
    return element("g", {{"class", "key " + item.style_class}},
                   series_key(*item.marker, item.dashed, x, y - 4.5));
  return rect_element(x, y - 9, 12, 9, {{"class", "swatch " + item.style_class}});
}

// Items side by side where they fit, their texts broken where they are too long for a line.
Drawing draw_legend(const Chart& chart) {
  Drawing legend;
  double x = 8, y = 14;
  for (const LegendItem& item : legend_of(chart)) {
    const std::vector<std::string> lines = wrap(item.text, kChartWidth - 40);
    const double width = item.width() + 12 + text_width(lines.front());
    if (x > 8 && x + width > kChartWidth - 8) {
      x = 8;
      y += kLegendRow;
    }
    legend.body += swatch(item, x, y);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) y += kLegendRow;
      legend.body += text_element(x + item.width() + 6, y, lines[i], "start", "label");
    }
    x += width + 12;
  }
  legend.height = legend.body.empty() ? 0 : y + 10;
  return legend;
}

Drawing draw_title(const Chart& chart) {
  Drawing title;
  for (const std::string& line : wrap(chart.title, kChartWidth - 16, 14)) {
    title.height += 18;
    title.body += text_element(8, title.height, line, "start", "title");
  }
  title.height += 6;
  return title;
}

Drawing draw_inside(const Chart& chart) {
  switch (chart.kind) {
    case ChartKind::bar:
    case ChartKind::stacked_bar:
      return draw_bars(chart);
    case ChartKind::heat_map:
      return draw_heat_map(chart);
    default:
      return draw_lines(chart);
  }
}

std::string moved(double y, const std::string& body) {
  return element("g", {{"transform", fmt::format("translate(0 {})", pixels(y))}}, body);
}

std::string framed(const Chart& chart, const DrawOptions& options, double height, const std::string& body) {
  Attributes attributes = {{"viewBox", fmt::format("0 0 {} {}", pixels(kChartWidth), pixels(height))},
                           {"role", "img"},
                           {"class", "chart"},
                           {"aria-labelledby", options.id + "-title " + options.id + "-desc"},
                           {"data-chart", chart.name}};
  if (options.standalone) attributes.insert(attributes.begin(), {"xmlns", "http://www.w3.org/2000/svg"});
  const std::string words = element("title", {{"id", options.id + "-title"}}, escape(chart.title)) +
                            element("desc", {{"id", options.id + "-desc"}}, escape(chart.description));
  const std::string style = options.standalone
                                ? "<style>" + chart_style("svg") + "</style>" +
                                      rect_element(0, 0, kChartWidth, height, {{"class", "paper"}})
                                : "";
  return element("svg", attributes, words + style + body) + "\n";
}

}  // namespace

std::size_t style_of(const Chart& chart, std::size_t series) {
  return chart.series[series].style.value_or(series);
}

bool has_marker(const Chart& chart) {
  return chart.kind == ChartKind::line || chart.kind == ChartKind::scatter;
}

bool is_dashed(const Chart& chart, std::size_t series) {
  return chart.kind == ChartKind::line && chart.series[series].reference;
}

std::string series_key(std::size_t style, bool dashed, double x, double y) {
  if (!dashed) return marker(style, x + 6, y);
  const std::string path = fmt::format("M{} {}h{}", pixels(x), pixels(y), pixels(kDashedKey));
  return element("path", {{"d", path}, {"class", "line"}}) + marker(style, x + kDashedKey / 2, y);
}

std::string series_class(const Chart& chart, std::size_t series) {
  return fmt::format("s{}{}", style_of(chart, series) % kSeriesColors,
                     chart.series[series].reference ? " reference" : "");
}

std::string axis_title(const ChartAxis& axis, const DisplayUnit& unit) {
  const std::string title = unit.name.empty() ? axis.label : axis.label + ", " + unit.name;
  return axis.log ? title + " (log scale)" : title;
}

std::string tip_of(const Chart& chart, const ChartSeries& series, const ChartPoint& point) {
  const auto place = [](const ChartAxis& axis, double at) {
    return axis.categories.empty() ? axis.label + " " + with_unit(at, axis.unit)
                                   : axis.categories.at(static_cast<std::size_t>(at));
  };
  const bool heat = chart.kind == ChartKind::heat_map;
  const double shown = heat ? point.value.value_or(0) : point.y;
  std::string text = series.name.empty() ? "" : series.name + ": ";
  text += place(chart.x, point.x) + ", ";
  if (heat) text += place(chart.y, point.y) + ", ";
  text += with_unit(shown, chart.y.unit);
  if (point.interval) text += " " + with_unit(*point.interval, chart.y.unit);
  if (point.oversubscribed) text += ", oversubscribed";
  return text;
}

std::vector<std::pair<std::string, std::string>> data_of(std::size_t series, const ChartPoint& point) {
  Attributes data = {{"data-series", std::to_string(series)},
                     {"data-x", exact_text(point.x)},
                     {"data-y", exact_text(point.y)}};
  if (point.interval) {
    data.push_back({"data-low", exact_text(point.interval->low)});
    data.push_back({"data-high", exact_text(point.interval->high)});
  }
  if (point.value) data.push_back({"data-value", exact_text(*point.value)});
  return data;
}

std::string draw(const Chart& chart, const DrawOptions& options) {
  const Drawing inside = draw_inside(chart);
  if (!options.standalone) return framed(chart, options, inside.height, inside.body);
  const Drawing title = draw_title(chart), legend = draw_legend(chart);
  return framed(
      chart, options, title.height + inside.height + legend.height,
      title.body + moved(title.height, inside.body) + moved(title.height + inside.height, legend.body));
}

}  // namespace lockstep::report
