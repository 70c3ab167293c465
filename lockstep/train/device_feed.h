// The way of training batches into a GPU's memory: read by the device itself from the loader's memory while
// it still computes the step before, and always to the same place, so that a graph of a step finds them.
// Defined by cuda/ or by a stub.
#pragma once

#include <memory>

#include "lockstep/train/inputs.h"

namespace lockstep::train {

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
