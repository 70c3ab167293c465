// What libtorch's allocator hands out of a GPU's memory, counted in memory accounts by use. The allocator is
// libtorch's own and has its own limit: here is only told what it did.
#pragma once

#include <cstdint>
#include <memory>

#include "lockstep/measure/memory_account.h"

namespace c10 {
class DebugInfoGuard;
}

namespace lockstep::measure {

// From now on blocks are counted: in the account of the thread's AccountScope, else in `account`. Tensors of
// the host are then counted in the process's own account only. A later call changes the account; null: none
// are counted any more.
void count_device_blocks(std::shared_ptr<MemoryAccount> account);
bool device_blocks_are_counted();
// Where a block of this thread would be counted; null: they are not counted.
MemoryAccount* device_account();

// What the allocator tells, on the thread that asked it for the block or let go of it, while it holds its own
// lock: nothing here may call it. A block that was taken before blocks were counted is never counted.
void device_block_taken(std::uintptr_t address, std::uint64_t bytes) noexcept;
void device_block_returned(std::uintptr_t address) noexcept;
void count_device_block_as(std::uintptr_t address, Use use) noexcept;

// Autograd computes a GPU's backward on a thread of its own. Until this ends, what such a thread takes in a
// backward that this thread calls is counted as this thread's: in its account and, where no scope of its own
// is open, for its use.
class BackwardScope {
 public:
  BackwardScope();
  ~BackwardScope();
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;

 private:
  std::unique_ptr<c10::DebugInfoGuard> lent_;  // null: nothing is counted
};

}  // namespace lockstep::measure
