// The reduction of several ranks' memory by the one GPU that reaches all of it, with the bits of
// lockstep/comm/reduction.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "lockstep/comm/operation.h"

namespace lockstep::comm {

inline constexpr int kMostReducedRanks = 64;

struct DeviceReduceTask {
  const std::byte* inputs[kMostReducedRanks];
  std::byte* outputs[kMostReducedRanks];  // each may be an input, element for element
  std::uint32_t input_count;
  std::uint32_t output_count;
  std::uint64_t bytes;  // of each of them
};

// Puts it on a stream of the current device.
void reduce_on_device(ReduceOp op, ElementType type, const DeviceReduceTask& task, cudaStream_t stream);

}  // namespace lockstep::comm
