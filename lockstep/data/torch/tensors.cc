#include "lockstep/data/torch/tensors.h"

#include <ATen/ATen.h>

namespace lockstep::data {
namespace {

// A tensor on the batch's memory that keeps it out of the pool.
at::Tensor view_of(void* data, at::IntArrayRef sizes, at::ScalarType type,
                   std::shared_ptr<BatchMemory> memory) {
  return at::from_blob(
      data, sizes, [memory = std::move(memory)](void*) {}, at::TensorOptions().dtype(type));
}

}  // namespace

TensorBatch to_tensors(const Batch& batch) {
  const auto count = static_cast<std::int64_t>(batch.count());
  const std::vector<std::int64_t> image_sizes = {count, batch.input.channels, batch.input.height,
                                                 batch.input.width};
  BatchMemory& memory = *batch.memory;
  TensorBatch tensors;
  tensors.inputs = view_of(memory.inputs.data(), image_sizes, at::kFloat, batch.memory);
  switch (batch.task) {
    case record::Task::classification:
      tensors.labels = view_of(memory.labels.data(), {count}, at::kLong, batch.memory);
      break;
    case record::Task::steering:
      tensors.targets = view_of(memory.targets.data(), {count, 1}, at::kFloat, batch.memory);
      break;
    case record::Task::restoration:
      tensors.targets = view_of(memory.targets.data(), image_sizes, at::kFloat, batch.memory);
      break;
    case record::Task::any:
      break;
  }
  return tensors;
}

}  // namespace lockstep::data
