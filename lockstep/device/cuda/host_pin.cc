#include "lockstep/device/cuda/host_pin.h"

#include <cuda_runtime_api.h>

#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::device::cuda {

HostPin::HostPin(void* data, std::size_t bytes) : data_(static_cast<std::byte*>(data)), bytes_(bytes) {
  check(cudaHostRegister(data, bytes, cudaHostRegisterDefault), "pinning memory for the GPU");
}

HostPin::~HostPin() {
  static_cast<void>(cudaHostUnregister(data_));
}

}  // namespace lockstep::device::cuda
