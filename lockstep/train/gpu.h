// What a worker on a GPU has of its own: its slice, its layers, and how batches come to it. Defined by cuda/
// or by a stub.
#pragma once

#include <ATen/core/Tensor.h>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/models/layer_factory.h"
#include "lockstep/record/spec.h"
#include "lockstep/train/inputs.h"

namespace lockstep::train {

// Makes this process's slice small enough for right products of 16-bit numbers (device/slices.h), where the
// spec asks for them and for a slice. Before anything of CUDA begins, and before there are threads.
void fit_slice(const record::RunSpec& spec);

// What fit_slice() has changed, for people; nothing: nothing.
std::optional<std::string> slice_remark(const record::RunSpec& spec);

// Throws VerificationError, with the next step, where `type` has 16 bits and the library's products of it are
// not what they are in f32. Some milliseconds.
void require_right_products(const at::Device& device, at::ScalarType type);

// The layers of a GPU.
std::unique_ptr<models::LayerFactory> device_layers(const models::LayerOptions& options);

// The way of training batches into a GPU's memory: read by the device itself from the loader's memory while
// it still computes the step before, and always to the same place, so that a graph of a step finds them.
class DeviceFeed {
 public:
  virtual ~DeviceFeed() = default;
  // The batch in the model's type on its device, with the key of its step beside it. Good until the next
  // call; ordered with what torch computes.
  virtual DeviceBatch take(const data::Batch& batch, std::int64_t step) = 0;
};

// What it takes beside tensors is counted in the account, which outlives it.
std::unique_ptr<DeviceFeed> device_feed(const Placement& placement, measure::MemoryAccount& memory);

}  // namespace lockstep::train
