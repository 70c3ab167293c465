// Draws charts as SVG. All colours come from a style sheet by class, so that a report follows the reader's
// light or dark; every mark carries the numbers it stands for in attributes.
#pragma once

#include <string>

#include "lockstep/report/model/chart.h"

namespace lockstep::report {

struct DrawOptions {
  std::string id = "chart";  // unique in the document: what title and description are referred to by
  bool standalone = false;   // a file of its own: with style and legend
};

std::string draw(const Chart& chart, const DrawOptions& options);

// The style sheet of marks, lines and texts in charts; `root` is what its colours are defined on.
std::string chart_style(const std::string& root);

// Drawn for the width of a telephone; wider pages set several side by side.
inline constexpr double kChartWidth = 340;
inline constexpr int kSeriesColors = 8;
inline constexpr double kDashedKey = 23;  // how wide a dashed line is in the legend: three dashes

// What is to be drawn inside the frame, and how high it came out.
struct Drawing {
  std::string body;
  double height = 0;
};
Drawing draw_lines(const Chart& chart);
Drawing draw_bars(const Chart& chart);
Drawing draw_heat_map(const Chart& chart);

// The shape that marks the points of a series, about (x, y).
std::string marker(std::size_t style, double x, double y);
// Colour and shape of a series; whether the legend shows the shape, and whether on a dashed line.
std::size_t style_of(const Chart& chart, std::size_t series);
bool has_marker(const Chart& chart);
bool is_dashed(const Chart& chart, std::size_t series);
// A series in the legend as it is drawn in the chart: from x on, about y.
std::string series_key(std::size_t style, bool dashed, double x, double y);
// "s3": the class of a series; a reference is dashed.
std::string series_class(const Chart& chart, std::size_t series);
// "ddp: workers 4, step 12.3 ms [12.1, 12.6]".
std::string tip_of(const Chart& chart, const ChartSeries& series, const ChartPoint& point);
// data-series, data-x, data-y, data-low, data-high, data-value: the numbers in their exact form.
std::vector<std::pair<std::string, std::string>> data_of(std::size_t series, const ChartPoint& point);
// An axis's title: its label with the unit in which the ticks are written, and that it is logarithmic.
std::string axis_title(const ChartAxis& axis, const DisplayUnit& unit);

}  // namespace lockstep::report
