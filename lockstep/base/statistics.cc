#include "lockstep/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lockstep::base {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  // Behind all numbers: comparing with it would leave the others in any order.
  const auto numbers =
      std::partition(copy.begin(), copy.end(), [](double sample) { return !std::isnan(sample); });
  std::sort(copy.begin(), numbers);
  return copy;
}

// The largest k such that P(Binomial(n, 1/2) < k) <= 2.5 %: the rank, counted from 1, of the lower bound; 0
// if none.
std::size_t lower_rank_of_median(std::size_t n) {
  double probability = std::pow(0.5, static_cast<double>(n));  // P(X = 0)
  double cumulative = 0;
  std::size_t k = 0;
  while (cumulative + probability <= 0.025) {
    cumulative += probability;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

// For many samples the binomial is a normal: n/2 - 1.96 sqrt(n)/2.
std::size_t lower_rank_of_median_large(std::size_t n) {
  const double count = static_cast<double>(n);
  return static_cast<std::size_t>(std::floor(count / 2 - 1.96 * std::sqrt(count) / 2));
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  const std::vector<double> ordered = sorted(samples);
  const double position = q * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return fraction == 0 ? ordered[below] : ordered[below] + fraction * (ordered[above] - ordered[below]);
}

double median(std::span<const double> samples) {
  return quantile(samples, 0.5);
}

double mean(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double coefficient_of_variation(std::span<const double> samples) {
  if (samples.size() < 2) return 0;
  const double average = mean(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - average) * (sample - average);
  return average == 0 ? 0 : std::sqrt(squares / static_cast<double>(samples.size() - 1)) / average;
}

std::optional<Interval> median_interval_95(std::span<const double> samples) {
  const std::vector<double> ordered = sorted(samples);
  constexpr std::size_t kManySamples = 500;
  const std::size_t n = ordered.size();
  const std::size_t rank = n > kManySamples ? lower_rank_of_median_large(n) : lower_rank_of_median(n);
  if (rank == 0) return std::nullopt;
  return Interval{ordered[rank - 1], ordered[n - rank]};
}

}  // namespace lockstep::base
