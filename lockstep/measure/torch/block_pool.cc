#include "lockstep/measure/torch/block_pool.h"

#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace lockstep::measure {
namespace {

// Idle memory up to this is always kept; more than that only up to what was in use at the most.
constexpr std::size_t kAlwaysKept = std::size_t{256} << 20;

constexpr std::size_t kSmallest = 64;
constexpr int kSmallestPower = 6;
constexpr int kLargestPower = 47;  // addresses of a process

Block* new_block(std::size_t size_class) noexcept {
  // malloc and an alignment of our own: aligned_alloc cannot take back a block of exactly the size it freed.
  void* const raw = std::malloc(bytes_of_class(size_class) + sizeof(Block) + kBlockAlignment);
  if (raw == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (address + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  Block* const block = new (static_cast<std::byte*>(raw) + (aligned - address)) Block;
  block->raw = raw;
  block->size_class = size_class;
  return block;
}

}  // namespace

// Between 2^p and 2^(p+1) there are four classes, a quarter of 2^p apart.
std::size_t size_class_of(std::size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const int power = static_cast<int>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarter = std::size_t{1} << (power - 2);
  const std::size_t quarters = (bytes - 4 * quarter + quarter - 1) / quarter;
  return static_cast<std::size_t>(power - kSmallestPower) * 4 + quarters;
}

std::size_t bytes_of_class(std::size_t size_class) {
  if (size_class == 0) return kSmallest;
  const std::size_t power = (size_class - 1) / 4 + kSmallestPower;
  const std::size_t quarters = (size_class - 1) % 4 + 1;
  return (std::size_t{1} << power) + quarters * (std::size_t{1} << (power - 2));
}

BlockPool::~BlockPool() {
  release_idle();
}

Block* BlockPool::take(std::size_t bytes) noexcept {
  if (bytes > (std::size_t{1} << kLargestPower)) return nullptr;
  const std::size_t size_class = size_class_of(bytes);
  Block* block = pop(size_class);
  if (block == nullptr) block = new_block(size_class);
  if (block == nullptr) {
    release_idle();
    block = new_block(size_class);
  }
  if (block == nullptr) return nullptr;
  const std::size_t held = bytes_of_class(size_class);
  const std::size_t live = live_bytes_.fetch_add(held, std::memory_order_relaxed) + held;
  // Two threads may lose each other's maximum; it is a guide, not a figure.
  if (live > most_live_bytes_.load(std::memory_order_relaxed))
    most_live_bytes_.store(live, std::memory_order_relaxed);
  return block;
}

void BlockPool::put_back(Block* block) noexcept {
  const std::size_t held = bytes_of_class(block->size_class);
  live_bytes_.fetch_sub(held, std::memory_order_relaxed);
  // Sizes that nobody asks for any more would fill the pool: it starts afresh with those that are in use now.
  if (too_much_idle(held)) release_idle();
  push(block);
}

bool BlockPool::too_much_idle(std::size_t more_bytes) const noexcept {
  const std::size_t most = std::max(kAlwaysKept, most_live_bytes_.load(std::memory_order_relaxed));
  return idle_bytes() + more_bytes > most;
}

void BlockPool::release_idle() noexcept {
  for (std::size_t size_class = 0; size_class < kClasses; ++size_class)
    while (Block* const block = pop(size_class)) std::free(block->raw);
}

Block* BlockPool::pop(std::size_t size_class) noexcept {
  List& list = lists_[size_class];
  const std::lock_guard lock(list.mutex);
  Block* const block = list.first;
  if (block == nullptr) return nullptr;
  list.first = block->next;
  idle_bytes_.fetch_sub(bytes_of_class(size_class), std::memory_order_relaxed);
  return block;
}

void BlockPool::push(Block* block) noexcept {
  List& list = lists_[block->size_class];
  const std::lock_guard lock(list.mutex);
  block->next = list.first;
  list.first = block;
  idle_bytes_.fetch_add(bytes_of_class(block->size_class), std::memory_order_relaxed);
}

void keep_freed_memory_in_malloc() noexcept {
  constexpr int kMiB = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most glibc takes
  ::mallopt(M_TRIM_THRESHOLD, 1024 * kMiB);
  ::mallopt(M_TOP_PAD, 16 * kMiB);
}

}  // namespace lockstep::measure
