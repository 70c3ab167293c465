#include "lockstep/record/catalogue_strategies.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::array<StrategyEntry, 7> kStrategies = {{
    {"single", true, true, "one worker, no communication: what everything else is compared with",
     "One worker computes the whole batch and updates its parameters.\n"
     "Nothing moves; it is the measure of speedup and efficiency.",
     "nothing", "P parameters + P gradients + K P optimiser state + B + A"},
    {"ddp", true, true, "every worker a replica; gradients averaged in buckets while backward goes on",
     "Every worker computes its share of the batch; gradients are added up in buckets while backward goes "
     "on.\n"
     "All replicas then make the same update.",
     "per step: gradient P (all-reduce), metric 4 (the loss), buffer B before forward and at the end "
     "(buffers broadcast or average), statistics (buffers sync); once: parameter W, buffer B, control 8 T + "
     "16 (the order of buckets of T trained "
     "tensors, and "
     "whether overlapping pays); control 8 N for each check",
     "P parameters + P buckets + K P optimiser state + B + A"},
    {"dp", true, true, "one process with N replicas: replicate, scatter, apply, gather",
     "Every step the first replica replicates parameters and scatters the batch; N threads compute side by "
     "side.\n"
     "Outputs are gathered on it, the loss is there, gradients are reduced onto it, and it alone updates.",
     "per step: parameter W (all of them, also frozen ones), buffer B, input X - X0 (X with "
     "threaded_scatter), output 2 O - O0 "
     "(2 O with threaded_scatter), gradient P, statistics 8 N (4 C + 1) for each batch norm of C channels "
     "(buffers sync); X, O: "
     "inputs and outputs of the batch, X0, O0: the first replica's; for each batch of a validation: W, B, X "
     "- X0 or X, O; with one "
     "replica nothing",
     "the first replica: W, a copy of W (unless keep_originals), P gradients, K P optimiser state, the whole "
     "batch, A; every other "
     "one: W + P gradients + A"},
    {"horovod", true, false, "gradients averaged in the order a coordinator finds them ready everywhere",
     "A background thread of each worker says in cycles which gradients are there; those that all workers "
     "have\n"
     "are fused and all-reduced while backward goes on, in an order that rank 0 decides.",
     "per step: gradient P (all-reduce), metric 4 (the loss), buffer B before forward and at the end "
     "(buffers broadcast or average), statistics (buffers sync); control: 8 N (1 + C / 64 rounded up) for "
     "each cycle with C "
     "gradients in the cache, 16 N + 4 for each that is not (at first none is), 16 for each cycle with such; "
     "once: parameter W, buffer B, control 16; control 8 N for each check",
     "P parameters + P gradients + a fusion buffer of P, at most fusion_bytes + K P optimiser state + B + A"},
    {"localsgd", true, false, "workers step alone and average their parameters now and then",
     "Every worker trains its own replica for local_steps steps, or an epoch; then all take the mean of "
     "their\n"
     "parameters, weighed by the samples each has seen. Optimiser state stays where it is.",
     "per averaging: parameter P (all-reduce), buffer B (buffers broadcast or average), control 8 N (check); "
     "per step: metric 4 (the "
     "loss); once: parameter W, buffer B; control 8 N for each check",
     "P parameters + P gradients + P buckets (for averaging) + K P optimiser state + B + A"},
    {"zero1", true, false, "as ddp, with the optimiser's state divided among the workers",
     "Buckets of gradients are reduce-scattered while backward goes on; each worker updates its shard of "
     "every\n"
     "bucket, and all gather the parameters.",
     "per step: gradient P (reduce-scatter), parameter P (all-gather), metric 4, buffer B; once: parameter "
     "W, buffer B, control 16; at the end: buffer B; control 8 N for each check",
     "P parameters + P buckets + K P / N optimiser state + B + A"},
    {"zero3", true, true, "parameters, gradients and optimiser state divided among the workers",
     "Each layer's parameters are gathered before its forward and its backward and freed after, the next "
     "ones being\n"
     "fetched meanwhile; its gradient is reduce-scattered to the shards.",
     "per step, and for each accumulated part: parameter W + P (all-gather), gradient P (reduce-scatter); "
     "metric 4, buffer B; once: "
     "parameter W, buffer B, control 16; for each validation and checkpoint, else at the end: parameter W "
     "(all-gather), buffer B; control 8 N for each check",
     "P / N parameters + P / N gradients + K P / N optimiser state + two gathered layers + two layers' "
     "gradients + B + A"},
}};

constexpr std::array<DeviceEntry, 2> kDevices = {{
    {"cpu", "cores of this machine, with a memory cap per worker where asked for"},
    {"cuda", "an NVIDIA GPU for each worker"},
}};

constexpr std::array<EngineEntry, 2> kEngines = {{
    {"lockstep", "this program's own engine"},
    {"torch", "the PyTorch that this machine has, through the same spec and events"},
}};

}  // namespace

std::span<const StrategyEntry> strategy_entries() {
  return kStrategies;
}
std::span<const DeviceEntry> device_entries() {
  return kDevices;
}
std::span<const EngineEntry> engine_entries() {
  return kEngines;
}

}  // namespace lockstep::record
