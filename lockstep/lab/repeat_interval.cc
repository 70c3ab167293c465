#include "lockstep/lab/repeat_interval.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::lab {
namespace {

double variance(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

double student_t_95(double degrees_of_freedom) {
  constexpr std::array<double, 30> kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                             2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                             2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                             2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  // Rounded down: the wider interval is the honest one.
  const auto whole = static_cast<std::size_t>(std::max(1.0, std::floor(degrees_of_freedom)));
  if (whole <= kTable.size()) return kTable[whole - 1];
  // The first terms of the expansion around the normal quantile; exact to 0.001 from 30 on.
  constexpr double kNormal = 1.959964;
  return kNormal + (std::pow(kNormal, 3) + kNormal) / (4 * static_cast<double>(whole));
}

std::optional<base::Interval> mean_interval_95(std::span<const double> repeats) {
  if (repeats.size() < 2) return std::nullopt;
  const double mean = base::mean(repeats);
  const auto count = static_cast<double>(repeats.size());
  const double half = student_t_95(count - 1) * std::sqrt(variance(repeats, mean) / count);
  return base::Interval{mean - half, mean + half};
}

std::optional<double> relative_half_width(std::span<const double> repeats) {
  const auto interval = mean_interval_95(repeats);
  if (!interval) return std::nullopt;
  const double middle = (interval->low + interval->high) / 2;
  if (middle == 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / std::abs(middle);
}

std::optional<bool> Difference::significant() const {
  // Of values that are not all finite the interval is no number, and 0 neither in it nor outside.
  if (!interval || std::isnan(interval->low) || std::isnan(interval->high)) return std::nullopt;
  return interval->low > 0 || interval->high < 0;
}

Difference difference_of(std::span<const double> a, std::span<const double> b) {
  Difference result{base::mean(a), base::mean(b), 0, std::nullopt};
  result.difference = result.mean_b - result.mean_a;
  if (a.size() < 2 || b.size() < 2) return result;
  const double part_a = variance(a, result.mean_a) / static_cast<double>(a.size());
  const double part_b = variance(b, result.mean_b) / static_cast<double>(b.size());
  const double together = part_a + part_b;
  const auto freedom_a = static_cast<double>(a.size() - 1), freedom_b = static_cast<double>(b.size() - 1);
  // Welch and Satterthwaite's degrees of freedom; repeats without any spread have as many as they come with.
  const double freedom =
      together > 0 ? together * together / (part_a * part_a / freedom_a + part_b * part_b / freedom_b)
                   : freedom_a + freedom_b;
  const double half = student_t_95(freedom) * std::sqrt(together);
  result.interval = base::Interval{result.difference - half, result.difference + half};
  return result;
}

}  // namespace lockstep::lab
