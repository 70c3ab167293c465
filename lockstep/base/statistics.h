// Order statistics of repeated measurements. Raw samples are kept by the caller; these functions sort copies.
#pragma once

#include <optional>
#include <span>

namespace lockstep::base {

struct Interval {
  double low;
  double high;
};

// The q-quantile (0 to 1) with linear interpolation between neighbours. The samples must not be empty; what
// is no number counts as larger than all that are.
double quantile(std::span<const double> samples, double q);
double median(std::span<const double> samples);
double mean(std::span<const double> samples);

// Standard deviation over mean; 0 for fewer than two samples.
double coefficient_of_variation(std::span<const double> samples);

// The 95 % interval of the median, distribution-free: from the order statistics whose ranks bound the
// binomial(n, 1/2). Nothing for fewer than six samples: even their range holds the median less often.
std::optional<Interval> median_interval_95(std::span<const double> samples);

}  // namespace lockstep::base
