#include "lockstep/parallel/cuda/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <utility>

#include "lockstep/measure/torch/device_blocks.h"

namespace lockstep::parallel {
namespace {

// Others (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync) tell nothing.
bool tells_what_it_does() {
  return c10::cuda::CUDACachingAllocator::name() == "native";
}

}  // namespace

bool count_torch_memory(std::shared_ptr<measure::MemoryAccount> account) {
  if (!tells_what_it_does()) return false;
  measure::count_device_blocks(std::move(account));
  return true;
}

}  // namespace lockstep::parallel
