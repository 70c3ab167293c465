// What repeats of the same run say together.
#pragma once

#include <optional>
#include <span>

#include "lockstep/base/statistics.h"

namespace lockstep::lab {

// Student's t for a two-sided 95 % interval with this many degrees of freedom (at least 1).
double student_t_95(double degrees_of_freedom);

// The 95 % interval of the mean of a few repeats, by Student's t; nothing for fewer than two: the interval of
// the median needs six.
std::optional<base::Interval> mean_interval_95(std::span<const double> repeats);

// Half the interval over the mean; nothing where there is no interval or the mean is 0.
std::optional<double> relative_half_width(std::span<const double> repeats);

// b - a with its 95 % interval, not assuming equal variances (Welch). The interval is absent where a side has
// fewer than two values.
struct Difference {
  double mean_a = 0, mean_b = 0;
  double difference = 0;
  std::optional<base::Interval> interval;
  // Whether the interval leaves out 0; nothing where there is none, or where a value is not finite.
  std::optional<bool> significant() const;
};
Difference difference_of(std::span<const double> a, std::span<const double> b);

}  // namespace lockstep::lab
