// The charts by the names that study files use (lab/study_views.h). A name may give several charts: weak and
// strong apart, or more series than one chart can carry.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/report/model/chart.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {

std::vector<std::string> chart_names();
// None where the records know nothing of it. Throws ConfigError for an unknown name, with a suggestion.
std::vector<Chart> make_charts(const std::string& name, const Subject& subject);

using Charts = std::vector<Chart>;

// As many as there are colours.
inline constexpr std::size_t kMostSeries = 8;
// What a series is called within its part; its name where the chart is not to be divided.
const std::string& inner_name(const ChartSeries& series);

// Their makers, one for each name.
Charts speedup_charts(const Subject& subject);
Charts efficiency_charts(const Subject& subject);
Charts throughput_charts(const Subject& subject);
Charts split_charts(const Subject& subject);
Charts bytes_charts(const Subject& subject);
Charts exposure_charts(const Subject& subject);
Charts bandwidth_charts(const Subject& subject);
Charts epoch_loss_charts(const Subject& subject);
Charts second_loss_charts(const Subject& subject);
Charts rank_loss_charts(const Subject& subject);
Charts accuracy_charts(const Subject& subject);
Charts psnr_charts(const Subject& subject);
Charts target_charts(const Subject& subject);
Charts memory_charts(const Subject& subject);
Charts utilisation_charts(const Subject& subject);
Charts minutes_charts(const Subject& subject);
Charts axes_charts(const Subject& subject);
Charts primitives_charts(const Subject& subject);

// A figure of a cell; nothing where it is unknown.
using CellValue = std::function<std::optional<Number>(const GridCell&)>;

// One stacked or grouped bar chart over all cells that finished: a series for each named value.
struct NamedValue {
  std::string name;
  CellValue of;
};
Chart bars_over_cells(const Grid& grid, Chart chart, const std::vector<NamedValue>& values);

// Lines of a figure against a numeric axis of the grid, a series for each combination of the others; bars
// where the axis has words.
Charts along_axis(const Grid& grid, Chart chart, const std::string& axis, const CellValue& of);

// A number as a point; nothing for one that is not finite.
std::optional<ChartPoint> point_at(double x, const std::optional<Number>& number);
// The same with whether the cell was oversubscribed.
std::optional<ChartPoint> point_of(const GridCell& cell, double x, const std::optional<Number>& number);
// An empty series for cells like that one, with the part of a divided chart it goes to: the value of the
// first axis that its name holds.
ChartSeries series_of(const Grid& grid, const GridCell& cell, const std::string& name,
                      const std::vector<std::string>& without);
// Charts of at most eight series each: more are divided by the first axis, else numbered in their titles.
// The parts share a unit. Empty series are left out.
Charts in_pages(const Chart& chart);
// The same colour and shape for a series in all of the charts, as far as there are enough of them; within a
// chart no two are alike.
void agree_styles(Charts& charts);
// Losses that span more than two powers of ten are drawn on a log axis.
void choose_log(Chart& chart);

}  // namespace lockstep::report
