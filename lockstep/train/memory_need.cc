#include "lockstep/train/memory_need.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/models/describe.h"
#include "lockstep/models/recompute.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/train/network.h"
#include "lockstep/train/optimizer.h"

namespace lockstep::train {
namespace {

std::uint64_t divided(std::uint64_t whole, std::int64_t by) {
  const auto n = static_cast<std::uint64_t>(by);
  return (whole + n - 1) / n;
}

// A worker's share of a batch, which cannot be larger than its share of the samples.
std::int64_t share_of(const record::RunSpec& spec) {
  const std::int64_t batch = record::batch_sizes(spec).per_worker;
  if (!spec.train_samples) return batch;
  return std::min(batch, static_cast<std::int64_t>(
                             divided(static_cast<std::uint64_t>(*spec.train_samples), spec.workers)));
}

std::int64_t rows_of(const record::RunSpec& spec) {
  return static_cast<std::int64_t>(divided(static_cast<std::uint64_t>(share_of(spec)), spec.accumulate));
}

// What forward keeps when `segments` of it are computed again in backward: what lies between them, and the
// inside of one.
std::int64_t kept_bytes(const models::CostAccount& costs, std::size_t segments) {
  if (segments == 0) return costs.activation_bytes();
  const auto units = static_cast<double>(
      std::count_if(costs.units().begin(), costs.units().end(),
                    [](const models::UnitCost& unit) { return unit.activation_bytes > 0; }));
  const auto parts = static_cast<double>(segments);
  constexpr double kUneven = 1.1;  // segments are not all alike
  const double share = std::min(1.0, kUneven * (1 / parts + parts / std::max(1.0, units)));
  return static_cast<std::int64_t>(share * static_cast<double>(costs.activation_bytes()));
}

std::uint64_t activation_bytes(const models::Model& sketch, std::int64_t rows, std::size_t segments) {
  const models::CostAccount costs = models::trace_batch(sketch, rows);
  std::int64_t largest = 0;
  for (const models::UnitCost& unit : costs.units()) {
    std::int64_t elements = 1;
    for (const std::int64_t size : unit.output_sizes) elements *= size;
    largest = std::max(largest, elements);
  }
  const auto each = static_cast<std::int64_t>(sketch.parameters().front().tensor.element_size());
  return static_cast<std::uint64_t>(kept_bytes(costs, segments) + 3 * largest * each);
}

// Batches that lie on the device: those of the loader, or of a GPU the one it computes with and two on their
// way.
std::int64_t batches_of(const record::RunSpec& spec) {
  if (spec.device == "cuda") return 3;
  return spec.loader_threads == 0 ? 1 : spec.prefetch + 1;
}

// The first replica of dp loads for all.
std::uint64_t batch_bytes(const record::RunSpec& spec) {
  const auto batches = static_cast<std::uint64_t>(batches_of(spec));
  const std::int64_t rows = share_of(spec) * (spec.strategy == "dp" ? spec.workers : 1);
  const bool pairs = record::model_entry(spec.model).task == record::Task::restoration;  // noisy and clean
  return batches * static_cast<std::uint64_t>(rows) * record::input_shape(spec).elements() * sizeof(float) *
         (pairs ? 2 : 1);
}

// The largest layer is gathered with the next one, and its gradient is there with the one before.
std::uint64_t two_layers(const models::Model& sketch) {
  std::uint64_t largest = 0;
  for (const models::NamedTensor& named : sketch.parameters())
    largest = std::max<std::uint64_t>(largest, named.tensor.nbytes());
  return 2 * largest;
}

// The first replica of dp has the parameters, and a replica of them that computes.
bool keeps_a_copy(const record::RunSpec& spec) {
  return spec.strategy == "dp" && !spec.keep_originals;
}

void add_model_state(const record::RunSpec& spec, const models::Model& sketch, MemoryNeed& need) {
  std::uint64_t bytes = 0;
  for (const models::NamedTensor& named : sketch.parameters()) bytes += named.tensor.nbytes();
  const auto kinds = static_cast<std::uint64_t>(make_optimizer(spec)->state_tensors());
  const bool everything = spec.strategy == "zero3", state = everything || spec.strategy == "zero1";
  need.parameters = everything ? divided(bytes, spec.workers) + two_layers(sketch) : bytes;
  if (keeps_a_copy(spec)) need.parameters += bytes;
  need.gradients = everything ? divided(bytes, spec.workers) + two_layers(sketch) : bytes;
  need.optimizer = kinds * (state ? divided(bytes, spec.workers) : bytes);
}

enum class CureKind { in_parts, again, more_workers };

// One cure: what to say, and the spec it makes.
struct Cure {
  CureKind kind;
  std::string text;
  record::RunSpec spec;
};

// The cheapest first: the same worker, then more of them.
std::vector<Cure> cures_of(const record::RunSpec& spec) {
  std::vector<Cure> cures;
  const std::int64_t batch = record::batch_sizes(spec).per_worker;
  for (std::int64_t parts = 2 * spec.accumulate; parts <= batch && parts <= 64; parts *= 2) {
    record::RunSpec other = spec;
    other.accumulate = parts;
    cures.push_back(
        {CureKind::in_parts, fmt::format("--accumulate {} (the same update, in parts)", parts), other});
  }
  if (!spec.recompute) {
    record::RunSpec other = spec;
    other.recompute = true;
    cures.push_back({CureKind::again, "--recompute (activations dropped and computed again)", other});
  }
  for (const std::string strategy : {"ddp", "zero1", "zero3"}) {
    record::RunSpec other = spec;
    other.workers = 2 * spec.workers;
    other.strategy = strategy;
    other.batch_size.reset();
    other.global_batch = record::batch_sizes(spec).global;
    cures.push_back(
        {CureKind::more_workers,
         fmt::format("--workers {} --strategy {} --global-batch {} (half the batch each{})", other.workers,
                     strategy, *other.global_batch, strategy == "ddp" ? "" : ", optimiser state divided"),
         other});
  }
  return cures;
}

// What a refused step showed: the cap, and how many times the estimate it needed at least.
struct Refused {
  std::uint64_t cap_bytes = 0;
  double beyond_estimate = 1;
};

// A model without blocks refuses to be recomputed.
bool fits(const record::RunSpec& spec, const Refused& refused) {
  try {
    return static_cast<double>(estimated_need(spec).total()) * refused.beyond_estimate <=
           static_cast<double>(refused.cap_bytes);
  } catch (const base::ConfigError&) {
    return false;
  }
}

// The first of each kind that fits by the estimate.
std::vector<std::string> cures_that_fit(const record::RunSpec& spec, const Refused& refused) {
  std::vector<std::string> texts;
  std::set<CureKind> had;
  for (const Cure& cure : cures_of(spec)) {
    if (had.contains(cure.kind) || !fits(cure.spec, refused)) continue;
    had.insert(cure.kind);
    texts.push_back(cure.text);
  }
  return texts;
}

// What one sample on each worker needs: less than that no batch can.
MemoryNeed least_need(record::RunSpec spec) {
  spec.global_batch.reset();
  spec.batch_size = 1;
  spec.accumulate = 1;
  return estimated_need(spec);
}

// A cap that a batch of one fits into, as --device-memory takes it: the formulas give too little by 5 % at
// the most.
std::string least_cap(std::uint64_t least_bytes) {
  constexpr std::uint64_t kKibibyte = 1024;
  return fmt::format("{}KiB", (least_bytes + least_bytes / 20 + kKibibyte - 1) / kKibibyte);
}

std::string no_batch_fits(const record::RunSpec& spec, const Refused& refused, const MemoryNeed& least) {
  std::vector<std::string> ways = cures_that_fit(spec, refused);
  ways.push_back(spec.device == "cuda"  // what CUDA itself takes is in no formula
                     ? "a higher cap (--device-memory)"
                     : fmt::format("--device-memory {} for a batch of 1", least_cap(least.total())));
  ways.emplace_back("a smaller model");
  return fmt::format(
      "No batch fits: one sample needs about {}, of them {} for parameters, gradients and optimiser state. "
      "What would help: {}.",
      base::format_bytes(least.total()), base::format_bytes(least.model_state()), base::join(ways, "; "));
}

std::string smaller_batches_fit(const record::RunSpec& spec, const Refused& refused) {
  std::vector<std::string> ways = cures_that_fit(spec, refused);
  ways.emplace_back("a smaller batch per worker (--batch-size)");
  ways.emplace_back("a higher cap (--device-memory)");
  return fmt::format("The cheapest cures: {}. `lockstep fit` tries them.", base::join(ways, "; "));
}

std::string way_out(const record::RunSpec& spec, const Refused& refused) {
  const MemoryNeed least = least_need(spec);
  return least.total() > refused.cap_bytes ? no_batch_fits(spec, refused, least)
                                           : smaller_batches_fit(spec, refused);
}

// A slice's cap counts what is the driver's and the libraries' own too.
std::string remark_on_the_cap(const record::RunSpec& spec) {
  return spec.slice_share ? " CUDA itself and its libraries take a part of it." : "";
}

// Where the step was refused with less than the estimate, the estimate is its need; else all that is known is
// that the cap was too small.
std::string need_text(std::uint64_t estimate, const measure::OutOfMemory& refusal) {
  const std::string cap = base::format_bytes(refusal.cap_bytes());
  return estimate > refusal.needed_bytes() ? fmt::format("A step needs at most about {}, and the cap is {}.",
                                                         base::format_bytes(estimate), cap)
                                           : fmt::format("A step needs more than the cap of {}.", cap);
}

}  // namespace

MemoryNeed estimated_need(const record::RunSpec& spec) {
  const Placement placement = placement_of(spec, 0);
  models::Model sketch = models::sketch_model(spec.model, model_options(spec, 0), layer_options(placement));
  MemoryNeed need;
  add_model_state(spec, sketch, need);
  const std::size_t segments = spec.recompute ? models::recompute_activations(sketch) : 0;
  need.activations = activation_bytes(sketch, rows_of(spec), segments);
  need.batches = batch_bytes(spec);
  return need;
}

measure::OutOfMemory with_cures(const measure::OutOfMemory& refusal, const record::RunSpec& spec) {
  if (refusal.cap_bytes() == 0) {  // a GPU's own error, which knows no cap; or the host's, which has none
    if (!spec.device_memory || spec.device != "cuda") return refusal;
    const std::uint64_t cap = spec.device_memory->count;
    return with_cures({cap, cap, refusal.what()}, spec);
  }
  if (record::is_model_file(spec.model))
    return {refusal.needed_bytes(), refusal.cap_bytes(),
            fmt::format("{} Use a smaller batch per worker (--batch-size), accumulate gradients "
                        "(--accumulate), or raise --device-memory.",
                        refusal.what())};
  const std::uint64_t estimate = estimated_need(spec).total();
  const std::uint64_t needed = std::max(estimate, refusal.needed_bytes());
  const Refused refused{refusal.cap_bytes(), static_cast<double>(needed) / static_cast<double>(estimate)};
  return {needed, refusal.cap_bytes(),
          fmt::format("{} {}{} {}", refusal.what(), need_text(estimate, refusal), remark_on_the_cap(spec),
                      way_out(spec, refused))};
}

}  // namespace lockstep::train
