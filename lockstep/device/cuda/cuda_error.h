// The one place where results of the CUDA runtime become errors of ours.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace lockstep::device::cuda {

// "out of memory (cudaErrorMemoryAllocation)".
std::string cuda_text(cudaError_t result);

// Throws DeviceError "<what>: <cuda text>" unless the call succeeded. The runtime's sticky "last error" is
// taken away with it, so that it cannot surface in a later, unrelated call.
void check(cudaError_t result, std::string_view what);

}  // namespace lockstep::device::cuda
