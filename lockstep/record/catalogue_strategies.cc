#include "lockstep/record/catalogue_strategies.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::array<StrategyEntry, 7> kStrategies = {{
    {"single", true, true, "one worker, no communication: what everything else is compared with",
     "One worker computes the whole batch and updates its parameters.\n"
     "Nothing moves; it is the measure of speedup and efficiency.",
     "nothing",
     "parameters P, gradients P, optimiser state (sgd with momentum P, adam 2 P), activations of the batch"},
    {"ddp", true, true, "every worker a replica; gradients averaged in buckets while backward goes on",
     "Every worker computes its share of the batch; gradients are added up in buckets while backward goes "
     "on.\n"
     "All replicas then make the same update.",
     "per step: gradient P, metric 4 (the loss), buffer B before forward (buffers broadcast or average), "
     "statistics (buffers "
     "sync); once: parameter P, buffer B",
     "parameters P, buckets P, optimiser state, activations of its share"},
    {"dp", false, true, "one process with N replicas: replicate, scatter, apply, gather"},
    {"horovod", false, false, "gradients averaged in the order a coordinator finds them ready everywhere"},
    {"localsgd", true, false, "workers step alone and average their parameters now and then",
     "Every worker trains its own replica for local_steps steps, or an epoch; then all take the mean of "
     "their\n"
     "parameters, weighed by the samples each has seen. Optimiser state stays where it is.",
     "per averaging: parameter P, buffer B (buffers broadcast or average), control 8 N (check); per step: "
     "metric 4 (the loss); "
     "once: parameter P, buffer B",
     "parameters P, gradients P, buckets P (for averaging), optimiser state, activations of its share"},
    {"zero1", false, false, "as ddp, with the optimiser's state divided among the workers"},
    {"zero3", false, true, "parameters, gradients and optimiser state divided among the workers"},
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
