#include "lockstep/cli/train/train_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/cli/train/gpu_count.h"
#include "lockstep/comm/registry.h"
#include "lockstep/launch/launcher.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/spec_validate.h"

namespace lockstep::cli {
namespace {

using record::RunSpec;

// A launcher around us decides how many workers there are.
void take_world(RunSpec& spec, const comm::Identity& identity) {
  const int world = identity.group.world;
  if (spec.strategy == "dp" && world > 1)
    throw base::ConfigError(fmt::format(
        "strategy dp is one process, and {} says that there are {} ranks. Start it without a launcher.",
        identity.source, world));
  if (spec.strategy == "dp") return;
  if (spec.workers != 1 && spec.workers != world)
    throw base::ConfigError(fmt::format(
        "workers {} disagrees with the {} ranks that {} says there are. Leave workers out, or start "
        "as many ranks.",
        spec.workers, world, identity.source));
  spec.workers = world;
}

// Before the ranks have met, a guess from what their launcher says.
int hosts_of(const std::optional<comm::Identity>& identity) {
  if (identity && identity->hosts > 0) return identity->hosts;
  if (!identity || !identity->local_known || identity->group.local_world < 1) return 1;
  return (identity->group.world + identity->group.local_world - 1) / identity->group.local_world;
}

// A build without CUDA leaves GPUs alone, unless they are asked for by name.
GpuCount usable_gpus(const RunSpec& spec, const comm::Registry& registry) {
  if (spec.device == "cpu") return {0, "device is cpu"};
  // First, because it asks in a process of its own, where a driver that the nccl backend has started would
  // not start again.
  GpuCount gpus = count_gpus();
  const bool can_use = spec.engine == "torch" || registry.find("nccl").availability().available;
  if (gpus.count > 0 && !can_use)
    gpus = {0, "this program was built without CUDA and NCCL (docs/gpu.md has the cuda preset)"};
  if (gpus.count == 0 && spec.device == "cuda")
    throw base::DeviceError(fmt::format(
        "device cuda cannot be used here: {}. Next step: lockstep doctor, or --device cpu.", gpus.why_none));
  return gpus;
}

// A combination that would run on GPUs, and did not ask for cores, is no mistake: this machine lacks them.
void require_wanted_gpus(const RunSpec& spec, int hosts, const GpuCount& gpus) {
  if (spec.device != "auto" || gpus.count > 0) return;
  const std::vector<record::Problem> problems = record::problems_of(record::resolve(spec, {hosts, 0}));
  const int enough = std::max(2, static_cast<int>(spec.workers));  // DataParallel of PyTorch wants two
  if (problems.empty() || !record::problems_of(spec, {hosts, enough}).empty()) return;
  throw base::DeviceError(fmt::format(
      "{} {} cannot be used here: it needs GPUs, and {}. Next step: lockstep doctor, or leave it out.",
      problems.front().field, problems.front().value, gpus.why_none));
}

// Engine torch has backends of its own.
void require_backend(const RunSpec& spec, const comm::Registry& registry) {
  if (spec.engine == "torch") return;
  const comm::Availability availability = registry.find(spec.backend).availability();
  if (!availability.available)
    throw base::DeviceError(fmt::format("backend {} cannot be used here: {}. {}", spec.backend,
                                        availability.detail, availability.next_step));
}

bool has_limit(const RunSpec& spec) {
  return spec.epochs || spec.steps || spec.max_time || spec.target_loss || spec.target_val_loss ||
         spec.target_accuracy || spec.target_psnr;
}

}  // namespace

RunSpec resolved(RunSpec spec, const record::Surroundings& surroundings) {
  const record::Combination run = record::resolve(spec, surroundings);
  const record::DataEntry& data = record::data_entry(spec.data);
  spec.strategy = run.strategy;
  spec.backend = run.backend;
  spec.device = run.device;
  if (spec.loss == "auto") spec.loss = data.task == record::Task::classification ? "cross-entropy" : "mse";
  if (spec.augment == "auto") spec.augment = data.augmentation;
  if (!spec.batch_size && !spec.global_batch) spec.batch_size = record::batch_sizes(spec).per_worker;
  if (!has_limit(spec)) spec.epochs = 1;
  const record::ImageShape input = record::input_shape(spec);
  const bool adapts = record::model_entry(spec.model).fixed.height == 0;
  if (adapts && input.height == input.width) spec.image_size = input.height;
  return spec;
}

// Another launcher may have started more.
void require_startable(const RunSpec& spec) {
  if (spec.workers <= launch::kMostWorkers) return;
  throw base::UsageError(
      fmt::format("{} workers cannot be started by one launcher: ask for 1 to {}, or start the ranks with "
                  "mpirun or srun.",
                  spec.workers, launch::kMostWorkers));
}

TrainPlan plan_training(RunSpec spec, const std::optional<comm::Identity>& identity) {
  if (identity)
    take_world(spec, *identity);
  else
    require_startable(spec);
  const comm::Registry registry(base::plugin_directory());
  const GpuCount gpus = usable_gpus(spec, registry);
  const bool has_p2p = gpus.count > 0 && registry.find("p2p").availability().available;
  const record::Surroundings surroundings{hosts_of(identity), gpus.count, has_p2p};
  require_wanted_gpus(spec, surroundings.hosts, gpus);
  record::require_valid(spec, surroundings);
  TrainPlan plan;
  plan.spec = resolved(std::move(spec), surroundings);
  require_backend(plan.spec, registry);
  plan.batch = record::batch_sizes(plan.spec);
  plan.input = record::input_shape(plan.spec);
  plan.gpus = surroundings.gpus;
  plan.hosts = surroundings.hosts;
  return plan;
}

std::string text_of(const record::ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

std::string text_of(const Setup& setup) {
  const std::string over = setup.strategy == "single" ? "" : " over " + setup.backend;
  return fmt::format("{}{}, {} worker{} on {}", setup.strategy, over, setup.workers,
                     setup.workers == 1 ? "" : "s", setup.device);
}

std::string describe(const TrainPlan& plan) {
  const RunSpec& spec = plan.spec;
  return fmt::format("{} on {} ({}): {}, batch {} per worker, {} global", spec.model, spec.data,
                     text_of(plan.input),
                     text_of(Setup{spec.strategy, spec.backend, spec.device, spec.workers}),
                     plan.batch.per_worker, plan.batch.global);
}

}  // namespace lockstep::cli
