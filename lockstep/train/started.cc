#include "lockstep/train/started.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <chrono>

#include "lockstep/device/arithmetic_peak.h"
#include "lockstep/device/machine_facts.h"
#include "lockstep/models/describe.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::train {
namespace {

std::string utc_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, now.time_since_epoch().count() % 1000);
}

nlohmann::json machine_json(const record::RunSpec& spec, const std::string& gpu) {
  record::Machine machine = device::machine_facts();
  if (!gpu.empty()) machine.gpu = gpu;
  if (spec.slice_share) machine.slice_share = spec.slice_share->count;
  machine.libraries["libtorch"] = TORCH_VERSION;
  nlohmann::json json;
  to_json(json, machine);
  return json;
}

// A user's own file cannot be traced without running it.
std::optional<double> train_flops_per_sample(const record::RunSpec& spec, int classes,
                                             const Placement& placement) {
  if (record::is_model_file(spec.model)) return std::nullopt;
  const models::Model sketch =
      models::sketch_model(spec.model, model_options(spec, classes), layer_options(placement));
  const models::ModelCosts costs = models::costs_per_sample(sketch);
  return static_cast<double>(costs.training_flops_per_sample);
}

}  // namespace

double measure_peak_flops(const Placement& placement) {
  return device::arithmetic_peak(at::get_num_threads(), static_cast<int>(at::elementSize(placement.type)));
}

record::StartedEvent started_event(const record::RunSpec& spec, int classes, const Placement& placement,
                                   const std::string& gpu) {
  const record::BatchSizes batch = record::batch_sizes(spec);
  record::StartedEvent event;
  event.version = LOCKSTEP_VERSION;
  event.engine = "lockstep";
  event.workers = static_cast<int>(spec.workers);
  event.batch_per_worker = batch.per_worker;
  event.batch_global = batch.global;
  event.started_at = utc_now();
  event.machine = machine_json(spec, gpu);
  event.train_flops_per_sample = train_flops_per_sample(spec, classes, placement);
  event.threads = at::get_num_threads();
  if (placement.device.is_cpu()) event.peak_flops_per_second = measure_peak_flops(placement);
  return event;
}

}  // namespace lockstep::train
