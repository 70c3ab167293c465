#include "lockstep/parallel/cuda/torch_stream.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/AutogradState.h>
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

cudaStream_t own_torch_stream(int device) {
  return c10::cuda::getStreamFromPool(false, static_cast<c10::DeviceIndex>(device)).stream();
}

// A stream of torch's own is known to it by the handle too.
void use_torch_stream(cudaStream_t stream, int device) {
  c10::cuda::setCurrentCUDAStream(
      c10::cuda::getStreamFromExternal(stream, static_cast<c10::DeviceIndex>(device)));
}

void keep_torch_backward_here() {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

void limit_torch_memory(int device, double share) {
  c10::cuda::CUDACachingAllocator::init(c10::cuda::device_count());  // before, it knows no device
  c10::cuda::CUDACachingAllocator::setMemoryFraction(share, static_cast<c10::DeviceIndex>(device));
}

bool torch_tells_of_memory() {
  return c10::cuda::CUDACachingAllocator::name() == "native";
}

namespace {

bool is_recorded(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive;
}

}  // namespace

// What ordinary steps have left in the allocator's hands cannot serve the private pool: given back, the
// device has it once and not twice.
PrivateMemory::PrivateMemory(int device) : device_(device), pool_(at::cuda::graph_pool_handle()) {
  c10::cuda::CUDACachingAllocator::emptyCache();
  c10::cuda::CUDACachingAllocator::beginAllocateToPool(static_cast<c10::DeviceIndex>(device), pool_,
                                                       is_recorded);
}

void PrivateMemory::end() {
  if (!std::exchange(open_, false)) return;
  c10::cuda::CUDACachingAllocator::endAllocateToPool(static_cast<c10::DeviceIndex>(device_), pool_);
}

PrivateMemory::~PrivateMemory() {
  end();
  c10::cuda::CUDACachingAllocator::releasePool(static_cast<c10::DeviceIndex>(device_), pool_);
}

}  // namespace lockstep::parallel
