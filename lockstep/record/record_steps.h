// Parts of the record builder that summarise step events.
#pragma once

#include <span>
#include <vector>

#include "lockstep/record/event.h"
#include "lockstep/record/record.h"

namespace lockstep::record {

// The most raw samples a record keeps of a kind.
inline constexpr std::size_t kMostSamples = 1000;

// The bodies of one kind that a rank sent, in order.
template <class Body>
std::vector<const Body*> bodies_of(std::span<const Event> events, int rank) {
  std::vector<const Body*> found;
  for (const Event& event : events) {
    const Body* body = std::get_if<Body>(&event.body);
    if (body != nullptr && event.rank == rank) found.push_back(body);
  }
  return found;
}

// The steps that count: those not marked as warm-up.
std::vector<const StepEvent*> measured_steps(std::span<const Event> events, int rank);

// The means of named figures over the steps that have them; nothing when none has.
using NamedSeconds = std::map<std::string, double>;
std::optional<NamedSeconds> mean_by_name(const std::vector<const StepEvent*>& steps,
                                         std::optional<NamedSeconds> StepEvent::*figures);

// The mean of a figure over the steps that have it; nothing when none has.
template <class Steps, class Get>
std::optional<double> mean_of(const Steps& steps, Get get) {
  double sum = 0;
  std::size_t count = 0;
  for (const StepEvent* step : steps) {
    if (const std::optional<double> value = get(*step)) {
      sum += *value;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

// Every k-th value, with the smallest k that keeps at most kMostSamples.
struct Thinned {
  std::vector<double> values;
  std::size_t every = 1;
};
Thinned thin(std::span<const double> values);

// Means per step. `other` is the engine's; where it gave none and every span is known, what they leave of the
// mean step.
std::optional<SplitSeconds> mean_split(const std::vector<const StepEvent*>& steps);

StepFigures step_figures(std::span<const Event> events, int world);

// Means per step of rank 0, medians of its buckets, and the bandwidths of its ledger.
CommFigures comm_figures(std::span<const Event> events);

}  // namespace lockstep::record
