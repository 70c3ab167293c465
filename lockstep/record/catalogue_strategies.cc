#include "lockstep/record/catalogue_strategies.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::array<StrategyEntry, 7> kStrategies = {{
    {"single", true, true, "one worker, no communication: what everything else is compared with",
     "one worker computes every gradient and every update by itself", "nothing", "P + P gradients + K P + A"},
    {"ddp", true, true, "every worker a replica; gradients averaged in buckets while backward goes on",
     "each worker computes the gradient of its share of the batch; buckets of gradients are all-reduced "
     "while backward "
     "goes on, and every worker makes the same update",
     "P gradients (all-reduce) + B buffers (--buffers broadcast, average) + one loss",
     "P + P buckets + K P + A + B"},
    {"dp", false, true, "one process with N replicas: replicate, scatter, apply, gather"},
    {"horovod", false, false, "gradients averaged in the order a coordinator finds them ready everywhere"},
    {"localsgd", false, false, "workers step alone and average their parameters now and then"},
    {"zero1", true, false, "as ddp, with the optimiser's state divided among the workers",
     "buckets of gradients are reduce-scattered while backward goes on; each worker updates its shard of "
     "every bucket, "
     "and all gather the parameters",
     "P gradients (reduce-scatter) + P parameters (all-gather) + B buffers + one loss",
     "P + P buckets + K P / N + A + B"},
    {"zero3", true, true, "parameters, gradients and optimiser state divided among the workers",
     "each layer's parameters are gathered before its forward and its backward and freed after, the next "
     "ones being "
     "fetched meanwhile; its gradient is reduce-scattered to the shards",
     "2 P parameters (all-gather) + P gradients (reduce-scatter), for each accumulated part + B buffers + "
     "one loss",
     "P / N + P / N gradients + K P / N + two gathered layers + two layers' gradients + A + B"},
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
