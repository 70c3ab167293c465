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

// Hearing of every block costs a small model's step a hundredth of its time, and steps are alike: the first
// ones are worth it, then one in sixteen.
bool is_worth_watching(std::uint64_t step);
// Whether watches that begin from now on hear anything. They do when counting begins.
void watch_device_blocks(bool yes);

// Until this ends, this thread and those that compute its backward tell of the blocks they take and return,
// if blocks are watched when it begins. What was returned unwatched is found out when its place is taken
// again.
class DeviceWatch {
 public:
  DeviceWatch();
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

 private:
  std::unique_ptr<c10::DebugInfoGuard> told_;  // null: nothing is watched
};

// Nothing happens to a block that is not known, or while none is watched.
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
