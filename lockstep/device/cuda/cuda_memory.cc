#include "lockstep/device/cuda/cuda_memory.h"

#include <fmt/format.h>

#include <string>

#include "lockstep/base/units.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/measure/memory_account.h"

namespace lockstep::device::cuda {
namespace {

std::string free_memory_text() {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return "an unknown amount";
  return fmt::format("{} of {}", base::format_bytes(free_bytes), base::format_bytes(total_bytes));
}

std::string describe(MemoryKind kind, std::size_t bytes) {
  if (kind == MemoryKind::pinned)
    return fmt::format("allocating {} of pinned host memory", base::format_bytes(bytes));
  return fmt::format("allocating {} on the device, which has {} free", base::format_bytes(bytes),
                     free_memory_text());
}

// CUDA does not say what it had and what was in use: no figures.
[[noreturn]] void refuse(cudaError_t result, const std::string& what) {
  static_cast<void>(cudaGetLastError());  // must not surface in a later call
  throw measure::OutOfMemory(0, 0, fmt::format("out of memory: {}: {}", what, cuda_text(result)));
}

}  // namespace

Memory::Memory(MemoryKind kind, std::size_t bytes) : kind_(kind), bytes_(bytes) {
  if (bytes == 0) return;
  const cudaError_t result = kind == MemoryKind::pinned ? cudaHostAlloc(&data_, bytes, cudaHostAllocDefault)
                                                        : cudaMalloc(&data_, bytes);
  if (result == cudaSuccess) return;
  if (result == cudaErrorMemoryAllocation) refuse(result, describe(kind, bytes));
  check(result, describe(kind, bytes));
}

Memory::~Memory() {
  if (data_ == nullptr) return;
  static_cast<void>(kind_ == MemoryKind::pinned ? cudaFreeHost(data_) : cudaFree(data_));
}

void copy_on_stream(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0 || to == from) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying on a CUDA stream");
}

}  // namespace lockstep::device::cuda
