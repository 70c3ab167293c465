#include "lockstep/train/inputs.h"

#include <ATen/ATen.h>

#include "lockstep/data/torch/tensors.h"
#include "lockstep/train/gpu.h"

namespace lockstep::train {

Inputs::Inputs(const Placement& placement, measure::Ledger& ledger, measure::MemoryAccount& memory)
    : placement_(placement),
      ledger_(ledger),
      feed_(placement.device.is_cuda() ? device_feed(placement, memory) : nullptr) {}

Inputs::~Inputs() = default;

DeviceBatch Inputs::take_uncounted(const data::Batch& batch) const {
  const data::TensorBatch tensors = data::to_tensors(batch);
  DeviceBatch taken;
  taken.inputs = tensors.inputs.to(placement_.device, placement_.type);
  if (placement_.channels_last && !placement_.device.is_cpu())
    taken.inputs = taken.inputs.contiguous(at::MemoryFormat::ChannelsLast);
  taken.targets = tensors.labels.defined() ? tensors.labels.to(placement_.device)
                                           : tensors.targets.to(placement_.device, placement_.type);
  taken.samples.assign(batch.plan.samples.begin(), batch.plan.samples.end());
  taken.plan = batch.plan;
  return taken;
}

DeviceBatch Inputs::take(const data::Batch& batch, std::int64_t step) {
  const std::uint64_t bytes = batch.count() * batch.input.elements() * sizeof(float);
  const bool copied = placement_.device.is_cuda();  // a CPU worker computes on the loader's memory
  measure::Movement movement;
  movement.wire_bytes = copied ? bytes : 0;
  movement.messages = 1;
  ledger_.add(measure::Purpose::input, measure::Collective::send, copied ? "pcie" : "local", bytes, movement);
  return feed_ != nullptr ? feed_->take(batch, step) : take_uncounted(batch);
}

DeviceBatch rows_of(const DeviceBatch& batch, std::int64_t begin, std::int64_t count) {
  DeviceBatch rows;
  rows.inputs = batch.inputs.narrow(0, begin, count);
  rows.targets = batch.targets.narrow(0, begin, count);
  rows.samples.assign(batch.samples.begin() + begin, batch.samples.begin() + begin + count);
  rows.plan = batch.plan;
  rows.device_step = batch.device_step;
  if (batch.device_samples != nullptr) rows.device_samples = batch.device_samples + begin;
  return rows;
}

}  // namespace lockstep::train
