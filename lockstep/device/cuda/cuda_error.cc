#include "lockstep/device/cuda/cuda_error.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::device::cuda {

std::string cuda_text(cudaError_t result) {
  return fmt::format("{} ({})", cudaGetErrorString(result), cudaGetErrorName(result));
}

void check(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw base::DeviceError(fmt::format("{}: {}", what, cuda_text(result)));
}

}  // namespace lockstep::device::cuda
