// A strategy dp with its replicas in a test's own process.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <vector>

#include "lockstep/comm/local/local_backend.h"
#include "lockstep/comm/wrappers/recording.h"
#include "lockstep/models/registry.h"
#include "lockstep/parallel/compute_queue.h"
#include "lockstep/parallel/dp/dp.h"

namespace lockstep::parallel {

inline models::Model small_model() {
  models::ModelOptions options;
  options.classes = 10;
  options.channels = 1;
  options.image_height = options.image_width = 28;
  models::LayerOptions layers;
  layers.dtype = at::kDouble;
  const auto factory = models::standard_layers(layers);
  return models::build_model("lenet5", options, *factory, 1);
}

inline StepPart part_of(std::int64_t rows) {
  StepPart part;
  part.inputs =
      at::linspace(0, 1, rows * 784, at::TensorOptions().dtype(at::kDouble)).reshape({rows, 1, 28, 28});
  part.targets = at::arange(rows, at::TensorOptions().dtype(at::kLong)).remainder(10);
  part.divisor = static_cast<double>(rows);
  return part;
}

struct DpFixture {
  explicit DpFixture(int replicas, const record::RunSpec& asked = {}) : spec(asked), model(small_model()) {
    comm::OpenOptions options;
    options.timeout = std::chrono::seconds(20);
    group = comm::open_local_group(replicas, options);
    for (int replica = 0; replica < replicas; ++replica) {
      ledgers.push_back(std::make_unique<measure::Ledger>());
      timers.push_back(measure::host_step_timer());
      auto& opened = group[static_cast<std::size_t>(replica)];
      opened = std::make_unique<comm::RecordingCommunicator>(std::move(opened), *ledgers.back());
      source.outfits.push_back({opened.get(), compute.get(), at::kCPU, timers.back().get(), nullptr, {}});
    }
    source.build = [](int) { return small_model(); };
    source.on_failure = [this](int replica, const std::exception_ptr&) { failed = replica; };
  }
  Surroundings surroundings() {
    return {spec,   model,  models::LossKind::cross_entropy, nullptr, *compute, *timers.front(),
            memory, &source};
  }

  record::RunSpec spec;
  models::Model model;
  std::vector<std::unique_ptr<comm::Communicator>> group;
  std::vector<std::unique_ptr<measure::Ledger>> ledgers;
  std::vector<std::unique_ptr<measure::StepTimer>> timers;
  std::unique_ptr<ComputeQueue> compute = host_compute_queue();
  measure::MemoryAccount memory;
  ReplicaSource source;
  int failed = -1;
};

}  // namespace lockstep::parallel
