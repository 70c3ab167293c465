#include "lockstep/report/model/scaling.h"

#include <algorithm>

#include "lockstep/record/spec_fields.h"
#include "lockstep/record/threads.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/grid_axes.h"

namespace lockstep::report {
namespace {

using predict::Scaling;

// A spec leaves out what is unset, and what was added to specs after it was recorded: then it had the
// default.
const nlohmann::json& value_in(const nlohmann::json& spec, const record::Field& field) {
  const auto found = spec.find(field.name);
  return found == spec.end() ? field.default_value : *found;
}

// Of fields that this version does not know no default is known either: they differ where both have them.
bool unknown_fields_agree(const nlohmann::json& first, const nlohmann::json& second) {
  static const std::vector<std::string> kKnown = record::spec_field_names();
  for (const auto& [field, value] : first.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), field) != kKnown.end()) continue;
    if (second.contains(field) && second[field] != value) return false;
  }
  return true;
}

bool same_work(const GridCell& one, const GridCell& other) {
  const nlohmann::json &first = one.runs.front().spec, &second = other.runs.front().spec;
  if (!first.is_object() || !second.is_object()) return true;
  for (const record::Field& field : record::spec_fields())
    if (!beside_the_work().contains(field.name) && value_in(first, field) != value_in(second, field))
      return false;
  return unknown_fields_agree(first, second);
}

// On how many axes besides workers and batch two cells differ; nothing where a speedup between them would
// mean nothing.
std::optional<int> differences(const GridCell& one, const GridCell& other) {
  if (one.at("machine") != other.at("machine") || !same_work(one, other)) return std::nullopt;
  int count = 0;
  for (const lab::AxisPoint& at : one.point)
    if (at.axis != "workers" && !is_batch(at.axis) && other.at(at.axis) != at.value) ++count;
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
  step.ideal = ideal_speedup(one, cell);
  if (step.speedup) step.efficiency = scaled(*step.speedup, 1.0 / step.ideal);
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

std::optional<int> threads_of(const GridCell& cell) {
  if (cell.runs.empty() || field_text(cell.runs.front(), "device") == "cuda") return std::nullopt;
  const auto threads = record::threads_per_worker(cell.runs.front());
  return threads && *threads > 0 ? threads : std::nullopt;
}

double alone_seconds(const GridCell& cell) {
  double seconds = 0;
  for (const Span& span : kSpans)
    if (span.member != &record::SplitSeconds::exposed_comm)
      if (const auto number = span_seconds(cell, span)) seconds += number->value;
  return seconds;
}

}  // namespace

const std::set<std::string>& beside_the_work() {
  static const std::set<std::string> kFields = {
      "workers", "batch_size", "global_batch", "strategy", "backend", "seed", "data_seed", "timeout",
      // the learning rate, how long a run goes on, and validation
      "learning_rate", "learning_rate_scaling", "warmup_epochs", "scaling_batch", "schedule",
      "schedule_epochs", "schedule_factor", "epochs", "steps", "skip_steps", "max_time", "target_loss",
      "target_val_loss", "target_accuracy", "target_psnr", "validate_every", "val_samples",
      // what only several workers have
      "overlap", "bucket_bytes", "first_bucket_bytes", "fusion_bytes", "cycle_time", "cache_capacity",
      "piece_bytes", "compression", "buffers", "check_every", "local_steps", "stall_warning",
      "stall_shutdown", "coalesced_broadcast", "coalesced_reduction", "threaded_scatter", "keep_originals",
      // where files lie and what is drawn
      "data_dir", "trace", "resume", "checkpoint_epochs", "checkpoint_time", "export_weights", "shuffle",
      "device_memory"};
  return kFields;
}

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

const ScalingStep& judged_step(const ScalingFamily& family) {
  for (auto step = family.steps.rbegin(); step != family.steps.rend(); ++step)
    if (!step->cell->oversubscribed && step->cell->workers > 1) return *step;
  return family.steps.back();
}

std::optional<ThreadChange> thread_change(const GridCell& one, const GridCell& many) {
  const auto before = threads_of(one), after = threads_of(many);
  if (!before || !after || *before == *after) return std::nullopt;
  return ThreadChange{*before, *after};
}

double ideal_speedup(const GridCell& one, const GridCell& many) {
  const auto change = thread_change(one, many);
  const double workers = many.workers;
  return change ? workers * change->many / change->one : workers;
}

bool has_equal_threads(const ScalingFamily& family) {
  return std::none_of(family.steps.begin(), family.steps.end(), [&](const ScalingStep& step) {
    return thread_change(*family.steps.front().cell, *step.cell).has_value();
  });
}

std::string ideal_text(const std::vector<ScalingFamily>& families) {
  if (std::all_of(families.begin(), families.end(), has_equal_threads))
    return "The ideal is the number of workers.";
  return "The ideal counts threads, which not all workers had equally many of: workers x threads of each, "
         "over "
         "those of one worker.";
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
