// The communication figures of a record, from the events of rank 0.
#include <algorithm>

#include "lockstep/base/statistics.h"
#include "lockstep/record/record_steps.h"

namespace lockstep::record {
namespace {

using Steps = std::vector<const StepEvent*>;

// Buckets are laid out anew after the first step: only steps with the final layout can be compared.
bool same_layout(const std::vector<BucketTimes>& one, const std::vector<BucketTimes>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const BucketTimes& a, const BucketTimes& b) { return a.bytes == b.bytes; });
}

std::optional<double> median_time(const std::vector<const std::vector<BucketTimes>*>& layouts,
                                  std::size_t bucket, std::optional<double> BucketTimes::*time) {
  std::vector<double> times;
  for (const auto* layout : layouts) {
    if (const auto& value = (*layout)[bucket].*time) times.push_back(*value);
  }
  return times.empty() ? std::nullopt : std::optional(base::median(times));
}

std::optional<std::vector<BucketTimes>> median_buckets(const Steps& steps) {
  std::vector<const std::vector<BucketTimes>*> layouts;
  for (const StepEvent* step : steps) {
    if (step->buckets) layouts.push_back(&*step->buckets);
  }
  if (layouts.empty()) return std::nullopt;
  std::vector<BucketTimes> buckets = *layouts.back();
  std::erase_if(layouts, [&](const auto* layout) { return !same_layout(*layout, buckets); });
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    for (const auto time :
         {&BucketTimes::ready_seconds, &BucketTimes::start_seconds, &BucketTimes::end_seconds}) {
      buckets[i].*time = median_time(layouts, i, time);
    }
  }
  return buckets;
}

std::optional<SquareNorm> mean_square_norm(const Steps& steps) {
  const auto mean_norm = [&](std::optional<double> SquareNorm::*norm) {
    return mean_of(steps, [norm](const StepEvent& step) {
      return step.gradient_square_norm ? (*step.gradient_square_norm).*norm : std::nullopt;
    });
  };
  const SquareNorm norms = {mean_norm(&SquareNorm::local), mean_norm(&SquareNorm::reduced)};
  return norms == SquareNorm() ? std::nullopt : std::optional(norms);
}

void add_bandwidths(CommFigures& figures, std::span<const Event> events) {
  const auto ledgers = bodies_of<LedgerEvent>(events, 0);
  if (ledgers.empty()) return;
  const LedgerEvent& last = *ledgers.back();
  figures.algorithm_bandwidth = last.algorithm_bandwidth;
  figures.bus_bandwidth = last.bus_bandwidth;
  figures.link_peak = last.link_peak;
  figures.control = last.control;
  const bool known = last.bus_bandwidth && last.link_peak && *last.link_peak > 0;
  if (known) figures.utilization = *last.bus_bandwidth / *last.link_peak;
}

}  // namespace

CommFigures comm_figures(std::span<const Event> events) {
  const Steps steps = measured_steps(events, 0);
  CommFigures figures;
  figures.busy_seconds = mean_of(steps, [](const StepEvent& step) { return step.busy_seconds; });
  figures.exposed_seconds = mean_of(steps, [](const StepEvent& step) { return step.exposed_seconds; });
  figures.peer_wait_seconds = mean_of(steps, [](const StepEvent& step) { return step.peer_wait_seconds; });
  figures.exposed_by_purpose = mean_by_name(steps, &StepEvent::exposed_by_purpose);
  const bool hides = figures.busy_seconds && figures.exposed_seconds && *figures.busy_seconds > 0;
  // A worker may also wait for a queue that is not busy yet: then nothing was hidden, not less than nothing.
  if (hides)
    figures.hidden_fraction = std::clamp(1 - *figures.exposed_seconds / *figures.busy_seconds, 0.0, 1.0);
  figures.buckets = median_buckets(steps);
  figures.gradient_square_norm = mean_square_norm(steps);
  add_bandwidths(figures, events);
  return figures;
}

}  // namespace lockstep::record
