#include "lockstep/record/catalogue_strategies.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::array<StrategyEntry, 7> kStrategies = {{
    {"single", true, true, "one worker, no communication: what everything else is compared with"},
    {"ddp", true, true, "every worker a replica; gradients averaged in buckets while backward goes on"},
    {"dp", false, true, "one process with N replicas: replicate, scatter, apply, gather"},
    {"horovod", true, false, "gradients averaged in the order a coordinator finds them ready everywhere",
     "a background thread of each worker says in cycles which gradients are there; those that all workers "
     "have are "
     "fused and all-reduced while backward goes on",
     "P gradients (all-reduce) + B buffers (--buffers broadcast, average) + one loss; control: 8 N (1 + C / "
     "64 rounded "
     "up) a cycle with C tensors in the cache, 16 N + 4 a tensor that is not, 16 a cycle with such",
     "P + P gradients + min(P, --fusion-bytes) fusion buffer + K P + A + B"},
    {"localsgd", false, false, "workers step alone and average their parameters now and then"},
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
