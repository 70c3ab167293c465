// Blocks of host memory for tensors, kept when they are freed.
//
// A training step frees what it allocated and the next one asks for the same sizes again. malloc gives large
// blocks back to the kernel in between, and every page of them is then faulted in and zeroed anew: a third of
// the time of a small model. Here a freed block goes on the list of its *size class* (four to every power of
// two) and the next request of that class takes it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "lockstep/measure/memory_account.h"

namespace lockstep::measure {

inline constexpr std::size_t kBlockAlignment = 64;  // a cache line, and the widest vector

// What stands in front of a block's bytes.
struct alignas(kBlockAlignment) Block {
  void* raw = nullptr;    // what malloc gave
  Block* next = nullptr;  // on the list of its class, while it is idle
  std::size_t size_class = 0;
  // Whom its bytes are counted for; for the owner to set.
  MemoryAccount* account = nullptr;
  std::uint64_t bytes = 0;
  Use use = Use::other;

  void* data() { return this + 1; }
  static Block* of(void* data) { return static_cast<Block*>(data) - 1; }
};
static_assert(sizeof(Block) == kBlockAlignment);

// The smallest class that holds so many bytes, and how many it holds.
std::size_t size_class_of(std::size_t bytes);
std::size_t bytes_of_class(std::size_t size_class);

// Any thread may call.
class BlockPool {
 public:
  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block for `bytes` bytes; null when the machine has no more memory.
  Block* take(std::size_t bytes) noexcept;
  void put_back(Block* block) noexcept;

  std::size_t idle_bytes() const { return idle_bytes_.load(std::memory_order_relaxed); }
  // Gives what is idle back to malloc.
  void release_idle() noexcept;

 private:
  static constexpr std::size_t kClasses = 176;
  struct List {
    std::mutex mutex;
    Block* first = nullptr;
  };
  Block* pop(std::size_t size_class) noexcept;
  void push(Block* block) noexcept;
  bool too_much_idle(std::size_t more_bytes) const noexcept;

  std::array<List, kClasses> lists_;
  std::atomic<std::size_t> idle_bytes_{0};
  std::atomic<std::size_t> live_bytes_{0};
  std::atomic<std::size_t> most_live_bytes_{0};
};

// Tells malloc to keep what is freed, too: kernels of libtorch have scratch memory of their own. For the
// process.
void keep_freed_memory_in_malloc() noexcept;

}  // namespace lockstep::measure
