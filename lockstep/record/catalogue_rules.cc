#include "lockstep/record/catalogue_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "lockstep/base/text.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_strategies.h"

namespace lockstep::record {
namespace {

// A rule looks at a combination and complains, or not.
using CombinationRule = std::optional<Problem> (*)(const Combination&);

bool engine_has(const Combination& run, const StrategyEntry& strategy) {
  return run.engine == "torch" ? strategy.in_torch : strategy.in_lockstep;
}

std::string strategies_of(const Combination& run) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : strategy_entries()) {
    if (engine_has(run, entry)) names.emplace_back(entry.name);
  }
  return base::join(names, ", ");
}

std::optional<Problem> engine_lacks_strategy(const Combination& run) {
  const StrategyEntry* entry = find_entry(strategy_entries(), run.strategy);
  if (entry == nullptr || engine_has(run, *entry)) return std::nullopt;
  const char* reason = run.engine == "torch" ? "PyTorch has no such strategy"
                                             : "this version's engine does not have it yet; a later one will";
  return Problem{"strategy", run.strategy, reason,
                 fmt::format("strategy ddp (this engine has {})", strategies_of(run))};
}

std::optional<Problem> single_is_alone(const Combination& run) {
  if (run.strategy != "single" || run.workers == 1) return std::nullopt;
  return Problem{"strategy", run.strategy,
                 fmt::format("it is one worker, and {} were asked for", run.workers),
                 "strategy ddp, or workers 1"};
}

std::optional<Problem> dp_is_one_process(const Combination& run) {
  if (run.strategy != "dp" || run.backend == "local") return std::nullopt;
  return Problem{"backend", run.backend,
                 "strategy dp is one process whose replicas exchange tensors by backend local only",
                 "backend local, or strategy ddp"};
}

std::optional<Problem> dp_is_one_host(const Combination& run) {
  if (run.strategy != "dp" || run.hosts == 1) return std::nullopt;
  return Problem{"strategy", run.strategy,
                 fmt::format("it is one process, and there are {} hosts", run.hosts),
                 "strategy ddp over backend gloo"};
}

std::optional<Problem> local_is_one_process(const Combination& run) {
  if (run.backend != "local" || run.strategy == "dp" || run.strategy == "single") return std::nullopt;
  return Problem{
      "backend", run.backend,
      fmt::format("it joins replicas inside one process, and the workers of strategy {} are processes",
                  run.strategy),
      run.hosts > 1 ? "backend gloo" : "backend shm"};
}

std::optional<Problem> device_backend_needs_cuda(const Combination& run) {
  if (!moves_device_memory(run.backend) || run.device == "cuda") return std::nullopt;
  return Problem{"backend", run.backend,
                 fmt::format("it moves memory of GPUs only, and device is {}", run.device),
                 run.hosts > 1 ? "backend gloo, or device cuda" : "backend shm, or device cuda"};
}

std::optional<Problem> shm_is_one_host(const Combination& run) {
  if (run.backend != "shm" || run.hosts == 1) return std::nullopt;
  return Problem{"backend", run.backend,
                 fmt::format("memory is shared inside one host, and there are {} hosts", run.hosts),
                 "backend gloo"};
}

std::optional<Problem> p2p_is_one_host(const Combination& run) {
  if (run.backend != "p2p" || run.hosts == 1) return std::nullopt;
  return Problem{
      "backend", run.backend,
      fmt::format("workers map each other's memory inside one host, and there are {} hosts", run.hosts),
      "backend nccl"};
}

std::optional<Problem> torch_has_its_own_backends(const Combination& run) {
  const bool is_ours = run.backend == "shm" || run.backend == "mpi" || run.backend == "p2p";
  if (run.engine != "torch" || !is_ours) return std::nullopt;
  return Problem{"backend", run.backend, "engine torch moves its bytes by PyTorch's own gloo or nccl",
                 run.device == "cuda" ? "backend nccl" : "backend gloo"};
}

std::optional<Problem> torch_needs_gpus(const Combination& run) {
  if (run.engine != "torch" || run.device == "cuda") return std::nullopt;
  if (run.strategy != "dp" && run.strategy != "zero3") return std::nullopt;
  const char* theirs = run.strategy == "dp" ? "DataParallel" : "FSDP";
  return Problem{"strategy", run.strategy,
                 fmt::format("PyTorch's {} needs GPUs, and device is {}", theirs, run.device),
                 "strategy ddp"};
}

// A replica is a GPU's, and with one there is nothing to divide.
std::optional<Problem> torch_dp_has_a_gpu_each(const Combination& run) {
  const int needed = std::max(2, run.workers);
  const bool known = run.device == "cuda" && run.gpus > 0;
  if (run.engine != "torch" || run.strategy != "dp" || !known || run.gpus >= needed) return std::nullopt;
  return Problem{"strategy", run.strategy,
                 fmt::format("PyTorch's DataParallel needs {} GPUs, and there {} {}", needed,
                             run.gpus == 1 ? "is" : "are", run.gpus),
                 "strategy ddp"};
}

std::string percent(double share) {
  return fmt::format("{:g}%", share * 100);
}

std::optional<Problem> slices_are_of_gpus(const Combination& run) {
  if (!run.slice_share) return std::nullopt;
  if (run.device != "cuda")
    return Problem{"slice_share", percent(*run.slice_share),
                   fmt::format("slices are shares of a GPU, and device is {}", run.device),
                   "device cuda, or threads for a worker's share of the cores"};
  if (run.strategy == "dp")
    return Problem{"slice_share", percent(*run.slice_share),
                   "the replicas of strategy dp are one process, and a slice is a process's", "strategy ddp"};
  return std::nullopt;
}

// Where more is given than there is, N workers are not N times the hardware of one.
std::optional<Problem> slices_fit(const Combination& run) {
  if (!run.slice_share || run.device != "cuda" || run.gpus == 0) return std::nullopt;
  const int on_one = processes_on_a_gpu(run);
  if (on_one * *run.slice_share <= 1 + 1e-9) return std::nullopt;
  return Problem{
      "slice_share", percent(*run.slice_share),
      fmt::format("{} workers share a GPU, and {} such slices are more than it has", on_one, on_one),
      fmt::format("slice_share {}", percent(1.0 / on_one))};
}

bool engine_reads(const Combination& run, const DataEntry& data) {
  return run.engine != "torch" || data.source != Source::procedural;
}

// The data sets that the engine reads and that its model can learn from.
std::string sets_for(const Combination& run) {
  const Task task = model_entry(run.model).task;
  std::vector<std::string> names;
  for (const DataEntry& entry : data_entries()) {
    if ((task != Task::any && entry.task != task) || !engine_reads(run, entry)) continue;
    names.push_back(entry.source == Source::users_path ? fmt::format("{}:PATH", entry.name)
                                                       : std::string(entry.name));
  }
  return base::join(names, ", ");
}

std::optional<Problem> model_fits_data(const Combination& run) {
  const ModelEntry& model = model_entry(run.model);
  const DataEntry& data = data_entry(run.data);
  if (model.task == Task::any || model.task == data.task) return std::nullopt;
  return Problem{
      "data", run.data,
      fmt::format("it is for {}, and model {} is for {}", name_of(data.task), run.model, name_of(model.task)),
      fmt::format("data {}", sets_for(run))};
}

std::optional<Problem> torch_reads_files(const Combination& run) {
  if (engine_reads(run, data_entry(run.data))) return std::nullopt;
  return Problem{"data", run.data,
                 "it is drawn by engine lockstep's own arithmetic, which engine torch does not repeat",
                 fmt::format("data {}, or engine lockstep", sets_for(run))};
}

constexpr std::array kRules = {engine_lacks_strategy, single_is_alone,         dp_is_one_process,
                               dp_is_one_host,        local_is_one_process,    device_backend_needs_cuda,
                               shm_is_one_host,       p2p_is_one_host,         torch_has_its_own_backends,
                               torch_needs_gpus,      torch_dp_has_a_gpu_each, model_fits_data,
                               torch_reads_files,     slices_are_of_gpus,      slices_fit};

}  // namespace

bool moves_device_memory(const std::string& backend) {
  return backend == "nccl" || backend == "p2p";
}

std::string text_of(const Problem& problem) {
  std::string text = fmt::format("{} '{}' is refused: {}.", problem.field, problem.value, problem.reason);
  if (!problem.nearest.empty()) text += fmt::format(" The nearest that works: {}.", problem.nearest);
  return text;
}

std::vector<Problem> problems_of(const Combination& run) {
  std::vector<Problem> problems;
  for (const CombinationRule rule : kRules) {
    if (auto problem = rule(run)) problems.push_back(std::move(*problem));
  }
  return problems;
}

}  // namespace lockstep::record
