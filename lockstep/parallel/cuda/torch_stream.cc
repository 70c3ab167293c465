#include "lockstep/parallel/cuda/torch_stream.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace lockstep::parallel {

cudaStream_t torch_stream() {
  return c10::cuda::getCurrentCUDAStream().stream();
}

void use_torch_device(int device) {
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
}

void limit_torch_memory(int device, double share) {
  c10::cuda::CUDACachingAllocator::init(c10::cuda::device_count());  // before, it knows no device
  c10::cuda::CUDACachingAllocator::setMemoryFraction(share, static_cast<c10::DeviceIndex>(device));
}

}  // namespace lockstep::parallel
