#include "lockstep/train/inputs.h"

#include <ATen/ATen.h>

#include "lockstep/data/torch/tensors.h"

namespace lockstep::train {

DeviceBatch Inputs::take_uncounted(const data::Batch& batch) const {
  const data::TensorBatch tensors = data::to_tensors(batch);
  DeviceBatch taken;
  taken.inputs = tensors.inputs.to(placement_.device, placement_.type);
  taken.targets = tensors.labels.defined() ? tensors.labels.to(placement_.device)
                                           : tensors.targets.to(placement_.device, placement_.type);
  taken.samples.assign(batch.plan.samples.begin(), batch.plan.samples.end());
  taken.plan = batch.plan;
  return taken;
}

DeviceBatch Inputs::take(const data::Batch& batch) {
  const std::uint64_t bytes = batch.count() * batch.input.elements() * sizeof(float);
  const bool copied = placement_.device.is_cuda();  // a CPU worker computes on the loader's memory
  measure::Movement movement;
  movement.wire_bytes = copied ? bytes : 0;
  movement.messages = 1;
  ledger_.add(measure::Purpose::input, measure::Collective::send, copied ? "pcie" : "local", bytes, movement);
  return take_uncounted(batch);
}

DeviceBatch rows_of(const DeviceBatch& batch, std::int64_t begin, std::int64_t count) {
  DeviceBatch rows;
  rows.inputs = batch.inputs.narrow(0, begin, count);
  rows.targets = batch.targets.narrow(0, begin, count);
  rows.samples.assign(batch.samples.begin() + begin, batch.samples.begin() + begin + count);
  rows.plan = batch.plan;
  return rows;
}

}  // namespace lockstep::train
