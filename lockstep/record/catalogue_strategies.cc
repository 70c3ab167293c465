#include "lockstep/record/catalogue_strategies.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::string_view kDpExplanation =
    "One process with N replicas, a thread each: parameters and buffers are replicated and the batch "
    "scattered "
    "every step;\noutputs are gathered on replica 0, which has the loss, the reduced gradients and the only "
    "optimiser.";
constexpr std::string_view kDpSends =
    "before forward: parameter P (all of them) and buffer F, broadcast; input X - X0 sent to the other "
    "replicas "
    "(X by one scatter with --threaded-scatter). After forward: output O gathered; its gradients O - O0 sent "
    "(O "
    "likewise). After backward: gradient T (trained parameters), reduced. With --buffers sync: statistics "
    "8 N (4 C + 1) for each batch norm of C channels. The loader's X in f32 counts as input too. X0, O0: "
    "replica "
    "0's rows. Nothing with 1 replica. Evaluation: P + F, inputs and outputs for every batch.";
constexpr std::string_view kDpKeeps =
    "replica 0: P + F, the optimiser's state, T of gradients, the whole batch and all outputs, activations "
    "of its "
    "rows, and a copy of P + F unless --keep-originals; with --coalesced-broadcast a piece while it is sent. "
    "Every "
    "other replica: P + F, T of gradients, its rows and their activations.";

constexpr std::array<StrategyEntry, 7> kStrategies = {{
    {"single", true, true, "one worker, no communication: what everything else is compared with"},
    {"ddp", true, true, "every worker a replica; gradients averaged in buckets while backward goes on"},
    {"dp", true, true, "one process with N replicas: replicate, scatter, apply, gather", kDpExplanation,
     kDpSends, kDpKeeps},
    {"horovod", false, false, "gradients averaged in the order a coordinator finds them ready everywhere"},
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
