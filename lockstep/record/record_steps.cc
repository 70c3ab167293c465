#include "lockstep/record/record_steps.h"

#include <set>

#include "lockstep/base/statistics.h"

namespace lockstep::record {
namespace {

std::vector<double> seconds_of(const std::vector<const StepEvent*>& steps) {
  std::vector<double> seconds;
  for (const StepEvent* step : steps) seconds.push_back(step->seconds);
  return seconds;
}

TimeStatistics statistics_of(std::span<const double> seconds) {
  TimeStatistics statistics;
  statistics.median = base::median(seconds);
  statistics.mean = base::mean(seconds);
  statistics.p5 = base::quantile(seconds, 0.05);
  statistics.p95 = base::quantile(seconds, 0.95);
  if (const auto interval = base::median_interval_95(seconds))
    statistics.ci95 = {interval->low, interval->high};
  return statistics;
}

// All ranks' samples of the steps that rank 0 counted, over the time that rank 0 took for them.
std::optional<double> samples_per_second(std::span<const Event> events,
                                         const std::vector<const StepEvent*>& steps) {
  std::set<std::int64_t> counted;
  double seconds = 0;
  for (const StepEvent* step : steps) {
    counted.insert(step->step);
    seconds += step->seconds;
  }
  if (seconds <= 0) return std::nullopt;
  std::int64_t samples = 0;
  for (const Event& event : events) {
    const auto* step = std::get_if<StepEvent>(&event.body);
    if (step != nullptr && counted.contains(step->step)) samples += step->samples;
  }
  return static_cast<double>(samples) / seconds;
}

// The sum over ranks, when every rank gave one.
std::optional<double> peak_of_world(std::span<const Event> events, int world) {
  double peak = 0;
  int known = 0;
  for (const Event& event : events) {
    const auto* started = std::get_if<StartedEvent>(&event.body);
    if (started == nullptr || !started->peak_flops_per_second) continue;
    peak += *started->peak_flops_per_second;
    ++known;
  }
  return known == world ? std::optional(peak) : std::nullopt;
}

void add_flops(StepFigures& figures, std::span<const Event> events, int world) {
  const auto started = bodies_of<StartedEvent>(events, 0);
  if (started.empty() || !started[0]->train_flops_per_sample || !figures.samples_per_second) return;
  figures.flops_per_second = *figures.samples_per_second * *started[0]->train_flops_per_sample;
  const auto peak = peak_of_world(events, world);
  if (peak && *peak > 0) figures.share_of_peak = *figures.flops_per_second / *peak;
}

std::optional<double> sum_of_spans(const SplitSeconds& split) {
  double sum = 0;
  for (const auto& span :
       {split.data, split.input, split.forward, split.backward, split.exposed_comm, split.optimizer}) {
    if (!span) return std::nullopt;
    sum += *span;
  }
  return sum;
}

}  // namespace

std::vector<const StepEvent*> measured_steps(std::span<const Event> events, int rank) {
  std::vector<const StepEvent*> steps = bodies_of<StepEvent>(events, rank);
  std::erase_if(steps, [](const StepEvent* step) { return step->warmup.value_or(false); });
  return steps;
}

std::optional<NamedSeconds> mean_by_name(const std::vector<const StepEvent*>& steps,
                                         std::optional<NamedSeconds> StepEvent::*figures) {
  NamedSeconds sums;
  std::size_t count = 0;
  for (const StepEvent* step : steps) {
    if (!(step->*figures)) continue;
    ++count;
    for (const auto& [name, seconds] : *(step->*figures)) sums[name] += seconds;
  }
  if (count == 0) return std::nullopt;
  for (auto& [name, sum] : sums) sum /= static_cast<double>(count);
  return sums;
}

Thinned thin(std::span<const double> values) {
  Thinned thinned;
  thinned.every = std::max<std::size_t>(1, (values.size() + kMostSamples - 1) / kMostSamples);
  for (std::size_t i = 0; i < values.size(); i += thinned.every) thinned.values.push_back(values[i]);
  return thinned;
}

std::optional<SplitSeconds> mean_split(const std::vector<const StepEvent*>& steps) {
  const auto mean_span = [&](std::optional<double> SplitSeconds::*span) {
    return mean_of(steps, [span](const StepEvent& step) {
      return step.split_seconds ? (*step.split_seconds).*span : std::nullopt;
    });
  };
  SplitSeconds split;
  for (const auto span :
       {&SplitSeconds::data, &SplitSeconds::input, &SplitSeconds::forward, &SplitSeconds::backward,
        &SplitSeconds::exposed_comm, &SplitSeconds::optimizer, &SplitSeconds::other}) {
    split.*span = mean_span(span);
  }
  if (split == SplitSeconds()) return std::nullopt;
  const auto sum = sum_of_spans(split);
  if (!split.other && sum) split.other = base::mean(seconds_of(steps)) - *sum;
  return split;
}

StepFigures step_figures(std::span<const Event> events, int world) {
  const auto all = bodies_of<StepEvent>(events, 0);
  const auto steps = measured_steps(events, 0);
  StepFigures figures;
  figures.count = static_cast<std::int64_t>(all.size());
  figures.warmup = static_cast<std::int64_t>(all.size() - steps.size());
  if (steps.empty()) return figures;
  const std::vector<double> seconds = seconds_of(steps);
  figures.seconds = statistics_of(seconds);
  Thinned thinned = thin(seconds);
  figures.samples = std::move(thinned.values);
  if (thinned.every > 1) figures.samples_every = static_cast<std::int64_t>(thinned.every);
  figures.split_seconds = mean_split(steps);
  figures.primitives_seconds = mean_by_name(steps, &StepEvent::primitives_seconds);
  figures.samples_per_second = samples_per_second(events, steps);
  add_flops(figures, events, world);
  return figures;
}

}  // namespace lockstep::record
