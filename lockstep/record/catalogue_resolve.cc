#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::record {
namespace {

constexpr std::int64_t kDefaultBatchPerWorker = 32;

std::string chosen(const std::string& given, std::string automatic) {
  return given == "auto" ? std::move(automatic) : given;
}

// NCCL does not support several ranks on a GPU; p2p is made for them.
std::string automatic_backend(const Combination& run, bool has_p2p) {
  if (run.strategy == "single" || run.strategy == "dp") return "local";
  const bool suits_p2p = has_p2p && run.engine == "lockstep" && run.hosts == 1 && processes_on_a_gpu(run) > 1;
  if (run.device == "cuda") return suits_p2p ? "p2p" : "nccl";
  return run.hosts > 1 || run.engine == "torch" ? "gloo" : "shm";
}

}  // namespace

Combination resolve(const RunSpec& spec, const Surroundings& surroundings) {
  Combination run;
  run.engine = spec.engine;
  run.model = spec.model;
  run.data = spec.data;
  run.workers = static_cast<int>(spec.workers);
  run.hosts = surroundings.hosts;
  run.gpus = surroundings.gpus;
  if (spec.slice_share) run.slice_share = spec.slice_share->count;
  run.strategy = chosen(spec.strategy, spec.workers == 1 ? "single" : "ddp");
  run.device = chosen(spec.device, surroundings.gpus > 0 ? "cuda" : "cpu");
  run.backend = chosen(spec.backend, automatic_backend(run, surroundings.p2p));
  return run;
}

int processes_on_a_gpu(const Combination& run) {
  if (run.device != "cuda" || run.gpus == 0 || run.strategy == "dp") return 1;
  return (run.workers / run.hosts + run.gpus - 1) / run.gpus;
}

int processes_of(const RunSpec& spec) {
  return spec.strategy == "dp" ? 1 : static_cast<int>(spec.workers);
}

BatchSizes batch_sizes(const RunSpec& spec) {
  if (spec.global_batch) return {(*spec.global_batch + spec.workers - 1) / spec.workers, *spec.global_batch};
  const std::int64_t per_worker = spec.batch_size.value_or(kDefaultBatchPerWorker);
  return {per_worker, per_worker * spec.workers};
}

}  // namespace lockstep::record
