// The edge to torch: batches as tensors, without copying. The memory goes back to the loader's pool when the
// last tensor that looks at it is gone.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/data/batch.h"

namespace lockstep::data {

struct TensorBatch {
  at::Tensor inputs;   // [count, channels, height, width], float; count may be 0
  at::Tensor labels;   // classification: [count], int64; else undefined
  at::Tensor targets;  // steering: [count, 1]; restoration: like the inputs; else undefined
};

TensorBatch to_tensors(const Batch& batch);

}  // namespace lockstep::data
