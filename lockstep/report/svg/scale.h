// From numbers to pixels, and the numbers worth writing beside an axis.
#pragma once

#include <string>
#include <vector>

#include "lockstep/report/model/chart.h"

namespace lockstep::report {

struct Scale {
  double low = 0;
  double high = 1;
  bool log = false;
  double from_pixel = 0;  // where `low` lies
  double to_pixel = 1;    // where `high` lies

  double at(double value) const;
};

struct Tick {
  double value = 0;
  std::string text;
};

// Round numbers (1, 2, 2.5, 5 times a power of ten), about `count` of them, within the range.
std::vector<double> round_ticks(double low, double high, int count);
// Powers of ten within the range; of a range that holds fewer than two, also 2 and 5 times them.
std::vector<double> log_ticks(double low, double high);

// A range for values: from zero where that does not waste most of the chart, a little beyond the largest.
struct AxisRange {
  double low = 0;
  double high = 1;
};
AxisRange range_for(std::vector<double> values, bool log, bool from_zero);

// The ticks of a scale in the axis's unit, thinned until their texts lie at least `gap` apart along the axis
// (`horizontal`: by their widths). `wanted`, where not empty, are the values to choose from.
std::vector<Tick> ticks_for(const Scale& scale, const DisplayUnit& unit, bool horizontal,
                            const std::vector<double>& wanted);

}  // namespace lockstep::report
