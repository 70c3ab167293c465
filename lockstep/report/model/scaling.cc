#include "lockstep/report/model/scaling.h"

#include <algorithm>
#include <array>

#include "lockstep/report/model/cell_figures.h"

namespace lockstep::report {
namespace {

using predict::Scaling;

bool is_batch(const std::string& axis) {
  return axis == "batch_size" || axis == "global_batch";
}

// Axes that change what is computed or where: a speedup against another of these would mean nothing.
bool is_kind(const std::string& axis) {
  constexpr std::array kKinds = {"model",     "data",    "engine",    "device",    "machine",
                                 "precision", "threads", "trainable", "image_size"};
  return axis.starts_with("model_options") || std::find(kKinds.begin(), kKinds.end(), axis) != kKinds.end();
}

// On how many axes besides workers and batch two cells differ; nothing where they are of different kinds.
std::optional<int> differences(const GridCell& one, const GridCell& other) {
  int count = 0;
  for (const lab::AxisPoint& at : one.point) {
    if (at.axis == "workers" || is_batch(at.axis) || other.at(at.axis) == at.value) continue;
    if (is_kind(at.axis)) return std::nullopt;
    ++count;
  }
  return count;
}

std::int64_t fixed_batch(const GridCell& cell, Scaling scaling) {
  return scaling == Scaling::weak ? cell.batch.per_worker : cell.batch.global;
}

bool is_measured(const GridCell& cell) {
  return !cell.runs.empty() && figure(cell, "samples_per_second").has_value();
}

// One worker with the same batch that differs in the least: a strategy, or a rule for the learning rate, may
// have no cell of one worker.
const GridCell* find_baseline(const Grid& grid, const GridCell& cell, Scaling scaling) {
  const GridCell* best = nullptr;
  int least = 0;
  for (const GridCell& candidate : grid.cells) {
    if (candidate.workers != 1 || !is_measured(candidate)) continue;
    if (fixed_batch(candidate, scaling) != fixed_batch(cell, scaling)) continue;
    const auto count = differences(cell, candidate);
    if (!count || (best != nullptr && *count >= least)) continue;
    best = &candidate;
    least = *count;
  }
  return best;
}

bool belongs(const ScalingFamily& family, const GridCell& cell, Scaling scaling) {
  const GridCell& last = *family.steps.back().cell;
  return family.scaling == scaling && fixed_batch(last, scaling) == fixed_batch(cell, scaling) &&
         differences(last, cell) == 0;
}

std::string family_label(const Grid& grid, const GridCell& cell, Scaling scaling) {
  const std::string rest = label_without(grid, cell, {"workers", "batch_size", "global_batch"});
  const std::string batch = scaling == Scaling::weak
                                ? "batch " + std::to_string(cell.batch.per_worker) + " per worker"
                                : "global batch " + std::to_string(cell.batch.global);
  return rest.empty() ? batch : rest + ", " + batch;
}

ScalingStep step_against(const GridCell& cell, const GridCell& one) {
  ScalingStep step{&cell, std::nullopt, std::nullopt};
  if (&cell == &one) return {&cell, Number{1, {}}, Number{1, {}}};
  const auto speed = figure(cell, "samples_per_second"), base = figure(one, "samples_per_second");
  if (speed && base) step.speedup = quotient(*speed, *base);
  if (step.speedup) step.efficiency = scaled(*step.speedup, 1.0 / cell.workers);
  return step;
}

void add(std::vector<ScalingFamily>& families, const Grid& grid, const GridCell& cell, Scaling scaling) {
  const GridCell* one = find_baseline(grid, cell, scaling);
  if (one == nullptr) return;
  auto family = std::find_if(families.begin(), families.end(),
                             [&](const auto& known) { return belongs(known, cell, scaling); });
  if (family == families.end()) {
    families.push_back({scaling, family_label(grid, cell, scaling), {step_against(*one, *one)}});
    family = families.end() - 1;
  }
  family->steps.push_back(step_against(cell, *one));
}

// A grid that fixes the batch per worker has strong pairs only by accident; they are kept where the batch is
// an axis, so that both readings of the same cells stand apart.
bool has_reading(const Grid& grid, const GridCell& cell, Scaling scaling) {
  const bool batch_axis =
      grid.find_axis("batch_size") != nullptr || grid.find_axis("global_batch") != nullptr;
  return batch_axis || cell.strong == (scaling == Scaling::strong);
}

double alone_seconds(const GridCell& cell) {
  double seconds = 0;
  for (const Span& span : kSpans)
    if (span.member != &record::SplitSeconds::exposed_comm)
      if (const auto number = span_seconds(cell, span)) seconds += number->value;
  return seconds;
}

}  // namespace

std::vector<ScalingFamily> scaling_families(const Grid& grid) {
  std::vector<ScalingFamily> families;
  for (const Scaling scaling : {Scaling::weak, Scaling::strong})
    for (const GridCell& cell : grid.cells)
      if (cell.workers > 1 && is_measured(cell) && has_reading(grid, cell, scaling))
        add(families, grid, cell, scaling);
  for (ScalingFamily& family : families)
    std::stable_sort(family.steps.begin(), family.steps.end(), [](const auto& one, const auto& other) {
      return one.cell->workers < other.cell->workers;
    });
  return families;
}

std::vector<predict::ScalingPoint> scaling_points(const ScalingFamily& family) {
  std::vector<predict::ScalingPoint> points;
  for (const ScalingStep& step : family.steps) {
    const GridCell& cell = *step.cell;
    if (!figure(cell, "forward_seconds")) continue;
    predict::ScalingPoint point;
    point.workers = cell.workers;
    point.alone_seconds = alone_seconds(cell);
    point.exposed_seconds = span_seconds(cell, kSpans[4]).value_or(Number{}).value;
    point.payload_bytes = gradient_bytes_per_step(cell).value_or(Number{}).value;
    point.oversubscribed = cell.oversubscribed;
    if (const auto step_time = figure(cell, "step_seconds"))
      point.relative_noise = relative_noise(*step_time).value_or(0);
    points.push_back(point);
  }
  return points;
}

std::string name_of(predict::Scaling scaling) {
  return scaling == Scaling::weak ? "weak" : "strong";
}

}  // namespace lockstep::report
