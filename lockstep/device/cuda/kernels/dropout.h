// Dropout with the masks of lockstep/models/philox: a pure function of seed, step, layer and sample.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lockstep::device::cuda {

enum class DropoutElement { f32, f64, bf16 };

struct DropoutTask {
  DropoutElement element = DropoutElement::f32;
  const void* input = nullptr;
  void* output = nullptr;  // may be the input
  std::int64_t rows = 0;
  std::int64_t row_elements = 0;
  std::int64_t channels = 0;  // of rows in channels-last order; 0: in the order of the mask
  std::uint64_t seed = 0;
  std::uint64_t layer = 0;                // the hash of the layer's path
  const std::int64_t* step = nullptr;     // on the device, so that a graph can be replayed with another
  const std::int64_t* samples = nullptr;  // the same; the global number of each row
  double probability = 0;
};

// Multiplies every element by its mask.
void dropout(const DropoutTask& task, cudaStream_t stream);

}  // namespace lockstep::device::cuda
