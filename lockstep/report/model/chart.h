// A chart of a report as data: what is drawn (svg/), tabulated beside it and written as JSON are these
// numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/statistics.h"
#include "lockstep/report/model/table.h"

namespace lockstep::report {

enum class ChartKind { line, scatter, bar, stacked_bar, heat_map };

struct ChartPoint {
  double x = 0;                                 // a number, or the index of a category
  double y = 0;                                 // of a heat map: the index of a category of the vertical axis
  std::optional<base::Interval> interval = {};  // of y; its upper end may be infinite
  std::optional<double> value = {};             // of a heat map's cell
  bool oversubscribed = false;                  // more workers than cores: drawn hollow
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points = {};
  bool reference = false;  // an ideal, a formula, a published figure: drawn dashed
  // Of a chart that may be divided into parts: the part it goes to, and what it is called within that.
  std::string part = {};
  std::string within = {};
  bool divided = false;                   // it stands in a part: series of one name within have one style
  std::optional<std::size_t> style = {};  // colour and shape; its place among the series where not set
};

struct ChartAxis {
  std::string label;
  std::string unit = {};
  bool log = false;
  std::vector<std::string> categories = {};  // where it has no numbers
  double largest = 0;                        // of all parts of a divided chart: they share a unit
};

// A horizontal (in bar charts: vertical) line across the chart: a cap, a peak.
struct ChartRule {
  std::string label;
  double value = 0;
};

// A word at a point: the knee.
struct ChartMark {
  std::string label;
  double x = 0;
  double y = 0;
};

struct Chart {
  std::string name;  // of the registry
  ChartKind kind = ChartKind::line;
  std::string title;
  std::string description = {};  // for who does not see it; computed
  ChartAxis x = {};
  ChartAxis y = {};
  std::vector<ChartSeries> series = {};
  std::vector<ChartRule> rules = {};
  std::vector<ChartMark> marks = {};
  std::string note = {};

  bool empty() const;
};

// The chart's numbers as the table beside it: a row for each x, a column for each series.
Table table_of(const Chart& chart);
// Adds to the note what a reader must know of the marks: hollow ones, and series that lie on each other.
void note_marks(Chart& chart);
// What the chart shows, in a sentence or two: kind, axes, series and their ranges.
std::string description_of(const Chart& chart);
std::string_view name_of(ChartKind kind);

}  // namespace lockstep::report
