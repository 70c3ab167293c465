#include "lockstep/device/cuda/host_pin.h"

#include <cuda_runtime_api.h>

#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::device::cuda {

HostPin::HostPin(void* data, std::size_t bytes) : data_(static_cast<std::byte*>(data)), bytes_(bytes) {
  check(cudaHostRegister(data, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable),
        "pinning memory for the GPU");
}

std::byte* HostPin::on_device() const {
  void* found = nullptr;
  check(cudaHostGetDevicePointer(&found, data_, 0), "asking where the GPU finds pinned memory");
  return static_cast<std::byte*>(found);
}

HostPin::~HostPin() {
  static_cast<void>(cudaHostUnregister(data_));
}

}  // namespace lockstep::device::cuda
