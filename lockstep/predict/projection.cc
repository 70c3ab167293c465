#include "lockstep/predict/projection.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lockstep/predict/least_squares.h"

namespace lockstep::predict {
namespace {

std::vector<ScalingPoint> usable(std::span<const ScalingPoint> points) {
  std::vector<ScalingPoint> kept;
  for (const ScalingPoint& point : points)
    if (!point.oversubscribed && point.step_seconds() > 0) kept.push_back(point);
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& one, const auto& other) { return one.workers < other.workers; });
  return kept;
}

std::vector<int> counts_of(std::span<const ScalingPoint> points) {
  std::set<int> counts;
  for (const ScalingPoint& point : points) counts.insert(point.workers);
  return {counts.begin(), counts.end()};
}

double alone_term(Scaling scaling, int workers) {
  return scaling == Scaling::weak ? workers - 1.0 : 1.0 / workers;
}

// Weak scaling needs three counts for its slope: of two, one is usually the worker that has all to itself.
bool has_slope(Scaling scaling, std::size_t counts) {
  return scaling == Scaling::strong || counts > 2;
}

// Without a slope that worker is left out of the fit.
bool is_fitted(const ScalingPoint& point, Scaling scaling, std::size_t counts) {
  return point.workers > 1 || has_slope(scaling, counts);
}

void fit_alone(StepModel& model, std::span<const ScalingPoint> points) {
  const std::size_t counts = counts_of(points).size();
  const bool slope = has_slope(model.scaling, counts);
  std::vector<Observation> observations;
  for (const ScalingPoint& point : points) {
    if (!is_fitted(point, model.scaling, counts)) continue;
    std::vector<double> terms = {1.0};
    if (slope) terms.push_back(alone_term(model.scaling, point.workers));
    observations.push_back({terms, point.alone_seconds});
  }
  const std::vector<double> fitted = fit_non_negative(observations);
  model.alone_constant = fitted.at(0);
  if (slope) model.alone_slope = fitted.at(1);
}

double bytes_term(const StepModel& model, int workers) {
  return 2.0 * (workers - 1) / workers * model.payload_bytes;
}

// The ring formula's terms that the points can tell apart: bytes first, messages where two counts moved any.
void fit_exposed(StepModel& model, std::span<const ScalingPoint> points) {
  std::set<int> counts;
  for (const ScalingPoint& point : points)
    if (point.workers > 1) counts.insert(point.workers);
  const bool bytes = model.payload_bytes > 0, messages = !bytes || counts.size() > 1;
  std::vector<Observation> observations;
  for (const ScalingPoint& point : points)
    if (point.workers > 1)
      observations.push_back(
          {{bytes ? bytes_term(model, point.workers) : 0.0, messages ? 2.0 * (point.workers - 1) : 0.0},
           point.exposed_seconds});
  if (observations.empty()) return;
  const std::vector<double> fitted = fit_non_negative(observations);
  model.seconds_per_byte = fitted[0];
  model.message_seconds = fitted[1];
}

double payload_of(std::span<const ScalingPoint> points) {
  double payload = 0;
  for (const ScalingPoint& point : points) payload = std::max(payload, point.payload_bytes);
  return payload;
}

// The worst of how far the model is from what it was fitted to, and of the measurements' own noise.
double spread(const StepModel& model, std::span<const ScalingPoint> points) {
  const std::size_t counts = counts_of(points).size();
  double worst = 0;
  for (const ScalingPoint& point : points) {
    const double residual = std::abs(model.step_seconds(point.workers) / point.step_seconds() - 1);
    worst = std::max({worst, point.relative_noise, is_fitted(point, model.scaling, counts) ? residual : 0});
  }
  return worst;
}

Prediction prediction(const StepModel& model, int workers, double relative) {
  const double seconds = model.step_seconds(workers);
  return {workers, seconds, seconds * std::max(0.0, 1 - relative), seconds * (1 + relative)};
}

double measured_at(std::span<const ScalingPoint> points, int workers) {
  double sum = 0;
  int count = 0;
  for (const ScalingPoint& point : points) {
    if (point.workers != workers) continue;
    sum += point.step_seconds();
    ++count;
  }
  return sum / count;
}

}  // namespace

double StepModel::alone_seconds(int workers) const {
  return alone_constant + alone_slope * alone_term(scaling, workers);
}

double StepModel::exposed_seconds(int workers) const {
  if (workers < 2) return 0;
  return 2.0 * (workers - 1) * message_seconds + bytes_term(*this, workers) * seconds_per_byte;
}

std::optional<StepModel> fit_step(std::span<const ScalingPoint> points, Scaling scaling) {
  const std::vector<ScalingPoint> kept = usable(points);
  if (counts_of(kept).size() < 2) return std::nullopt;
  StepModel model;
  model.scaling = scaling;
  model.payload_bytes = payload_of(kept);
  fit_alone(model, kept);
  fit_exposed(model, kept);
  return model;
}

std::optional<Projection> project(std::span<const ScalingPoint> points, Scaling scaling) {
  const std::vector<ScalingPoint> kept = usable(points);
  const std::vector<int> counts = counts_of(kept);
  if (counts.size() < 3) return std::nullopt;
  std::vector<ScalingPoint> fewer;
  std::copy_if(kept.begin(), kept.end(), std::back_inserter(fewer),
               [&](const ScalingPoint& point) { return point.workers != counts.back(); });
  Projection projection;
  projection.model = fit_step(fewer, scaling).value();
  projection.fitted = counts_of(fewer);
  projection.largest = prediction(projection.model, counts.back(), spread(projection.model, fewer));
  projection.measured_seconds = measured_at(kept, counts.back());
  projection.relative_error = projection.largest.step_seconds / projection.measured_seconds - 1;
  projection.full_model = fit_step(kept, scaling).value();
  const double relative = std::max(std::abs(projection.relative_error), spread(projection.full_model, kept));
  projection.twice = prediction(projection.full_model, 2 * counts.back(), relative);
  return projection;
}

}  // namespace lockstep::predict
