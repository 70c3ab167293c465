// Device memory and pinned host memory that are freed when their owner goes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

namespace lockstep::device::cuda {

enum class MemoryKind { device, pinned };

// Plain allocations, never managed memory. Nothing is allocated for 0 bytes.
class Memory {
 public:
  Memory() = default;
  // Throws measure::OutOfMemory that says how much was asked for and how much is free.
  Memory(MemoryKind kind, std::size_t bytes);
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    Memory(std::move(other)).swap(*this);
    return *this;
  }
  ~Memory();

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }
  // Lets go of the memory without freeing it: it stays until the process ends.
  void release() noexcept {
    data_ = nullptr;
    bytes_ = 0;
  }

 private:
  void swap(Memory& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  MemoryKind kind_ = MemoryKind::device;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Puts a copy between any two places on the stream. Both must stay until it is done.
void copy_on_stream(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

}  // namespace lockstep::device::cuda
