// A figure of a cell: the median over its repeats with a 95 % interval. Unknown is absent, never zero.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lockstep/base/statistics.h"

namespace lockstep::report {

struct Number {
  double value = 0;
  std::optional<base::Interval> interval;  // none where there was one repeat and nothing else is known
  int repeats = 1;
  std::vector<double> samples = {};  // of the repeats; empty where the number was computed from others
};

// The median of the samples. The interval of a median needs six; of two to five it is that of their mean, by
// Student's t. Nothing for no samples.
std::optional<Number> estimate(std::span<const double> samples);

// Their quotient; the interval is the widest that the two allow, without an upper end (infinite) where the
// divisor's reaches 0. Nothing where the divisor is 0.
std::optional<Number> quotient(const Number& above, const Number& below);
Number scaled(const Number& number, double factor);

// Whether the figures differ by more than the noise: by Welch's test where both were repeated, else where
// their intervals do not overlap. Nothing where that cannot be told.
std::optional<bool> clearly_differ(const Number& one, const Number& other);

// Whether the value and all its samples are finite: else nothing can be said of a difference.
bool is_finite(const Number& number);

// Half the interval over the value; nothing where there is no interval.
std::optional<double> relative_noise(const Number& number);

}  // namespace lockstep::report
