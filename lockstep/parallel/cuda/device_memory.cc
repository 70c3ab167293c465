#include "lockstep/parallel/cuda/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstdint>
#include <mutex>
#include <utility>

#include "lockstep/measure/torch/device_blocks.h"

namespace lockstep::parallel {
namespace {

namespace torch_allocator = c10::cuda::CUDACachingAllocator;
using torch_allocator::TraceEntry;

// Called under the allocator's lock, for every block. The size is what was asked for; what rounding adds is
// the allocator's own.
void tell(const TraceEntry& entry) {
  const auto address = static_cast<std::uintptr_t>(entry.addr_);
  if (entry.action_ == TraceEntry::ALLOC)
    measure::device_block_taken(address, static_cast<std::uint64_t>(entry.size_));
  else if (entry.action_ == TraceEntry::FREE_REQUESTED)
    measure::device_block_returned(address);
}

// Others (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync) refuse to be listened to.
bool tells_what_it_does() {
  return torch_allocator::name() == "native";
}

void listen() {
  torch_allocator::init(c10::cuda::device_count());  // before, there is nobody to listen to
  torch_allocator::attachAllocatorTraceTracker(&tell);
}

}  // namespace

bool count_torch_memory(std::shared_ptr<measure::MemoryAccount> account) {
  if (!tells_what_it_does()) return false;
  measure::count_device_blocks(std::move(account));
  static std::once_flag listening;
  std::call_once(listening, listen);
  return true;
}

}  // namespace lockstep::parallel
