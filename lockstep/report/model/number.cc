#include "lockstep/report/model/number.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lockstep/lab/repeat_interval.h"

namespace lockstep::report {

std::optional<Number> estimate(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  constexpr std::size_t kEnoughForMedian = 6;
  Number number;
  number.value = base::median(samples);
  number.repeats = static_cast<int>(samples.size());
  number.samples.assign(samples.begin(), samples.end());
  number.interval = samples.size() < kEnoughForMedian ? lab::mean_interval_95(samples)
                                                      : std::optional(base::median_interval_95(samples));
  // Of repeats that are not all finite the mean has none.
  if (number.interval && (std::isnan(number.interval->low) || std::isnan(number.interval->high)))
    number.interval.reset();
  // Student's t knows of no bounds; times, bytes and losses have one.
  if (number.interval && *std::min_element(samples.begin(), samples.end()) >= 0)
    number.interval->low = std::max(0.0, number.interval->low);
  return number;
}

std::optional<Number> quotient(const Number& above, const Number& below) {
  if (below.value == 0) return std::nullopt;
  Number result;
  result.value = above.value / below.value;
  result.repeats = std::min(above.repeats, below.repeats);
  if (above.interval && below.interval && below.interval->high > 0)
    result.interval = base::Interval{above.interval->low / below.interval->high,
                                     below.interval->low > 0 ? above.interval->high / below.interval->low
                                                             : std::numeric_limits<double>::infinity()};
  return result;
}

Number scaled(const Number& number, double factor) {
  Number result = number;
  result.value *= factor;
  for (double& sample : result.samples) sample *= factor;
  if (result.interval) {
    result.interval->low *= factor;
    result.interval->high *= factor;
  }
  return result;
}

std::optional<bool> clearly_differ(const Number& one, const Number& other) {
  if (one.samples.size() > 1 && other.samples.size() > 1)
    return lab::difference_of(one.samples, other.samples).significant();
  if (!one.interval || !other.interval) return std::nullopt;
  return one.interval->high < other.interval->low || other.interval->high < one.interval->low;
}

bool is_finite(const Number& number) {
  return std::isfinite(number.value) && std::all_of(number.samples.begin(), number.samples.end(),
                                                    [](double sample) { return std::isfinite(sample); });
}

std::optional<double> relative_noise(const Number& number) {
  if (!number.interval || number.value == 0) return std::nullopt;
  return (number.interval->high - number.interval->low) / 2 / std::abs(number.value);
}

}  // namespace lockstep::report
