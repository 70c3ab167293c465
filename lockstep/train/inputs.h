// The boundary from the loader to the device: where input is counted.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lockstep/data/batch.h"
#include "lockstep/measure/ledger.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/train/network.h"

namespace lockstep::train {

struct DeviceBatch {
  at::Tensor inputs;                  // [count, channels, height, width]
  at::Tensor targets;                 // [count] labels, or values
  std::vector<std::int64_t> samples;  // global index of each row
  data::StepPlan plan;
  // On a GPU: the step, and the samples once more.
  const std::int64_t* device_step = nullptr;
  const std::int64_t* device_samples = nullptr;

  std::int64_t count() const { return inputs.size(0); }
};

class DeviceFeed;

class Inputs {
 public:
  // The worker's account outlives it.
  Inputs(const Placement& placement, measure::Ledger& ledger, measure::MemoryAccount& memory);
  ~Inputs();
  // The batch of a step in the model's type on its device; good until the next one. Counted in the ledger:
  // purpose input, as the f32 bytes that the loader hands over.
  DeviceBatch take(const data::Batch& batch, std::int64_t step);
  // The same without an entry in the ledger: validation is no part of training.
  DeviceBatch take_uncounted(const data::Batch& batch) const;

 private:
  Placement placement_;
  measure::Ledger& ledger_;
  std::unique_ptr<DeviceFeed> feed_;  // of a GPU
};

// Rows [begin, begin + count).
DeviceBatch rows_of(const DeviceBatch& batch, std::int64_t begin, std::int64_t count);

}  // namespace lockstep::train
