#include "lockstep/measure/torch/device_blocks.h"

#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lockstep/measure/torch/counting_allocator.h"

namespace lockstep::measure {
namespace {

// libtorch carries a thread's information of this kind to the threads that compute its backward; itself it
// has none.
constexpr c10::DebugInfoKind kCarried = c10::DebugInfoKind::PRODUCER_INFO;

struct Lent final : c10::DebugInfoBase {
  Lent(MemoryAccount* lender, Use lent_use) : account(lender), use(lent_use) {}
  MemoryAccount* account;
  Use use;
};

const Lent* lent_to_this_thread() {
  return dynamic_cast<const Lent*>(c10::ThreadLocalDebugInfo::get(kCarried));
}

Use use_of_this_thread() {
  if (const std::optional<Use> own = UseScope::own()) return *own;
  const Lent* lent = lent_to_this_thread();
  return lent != nullptr ? lent->use : Use::other;
}

// Blocks outlive the scopes they were taken in, so accounts are kept for as long as the process lives.
class DeviceBlocks {
 public:
  void count_in(std::shared_ptr<MemoryAccount> account) {
    const std::lock_guard lock(mutex_);
    default_account_.store(account.get(), std::memory_order_release);
    if (account != nullptr) accounts_.push_back(std::move(account));
  }

  MemoryAccount* current() const {
    MemoryAccount* const by_default = default_account_.load(std::memory_order_acquire);
    if (by_default == nullptr) return nullptr;
    if (MemoryAccount* const own = AccountScope::current()) return own;
    const Lent* lent = lent_to_this_thread();
    return lent != nullptr ? lent->account : by_default;
  }

  void take(std::uintptr_t address, std::uint64_t bytes) {
    MemoryAccount* const account = current();
    if (account == nullptr) return;
    const Use use = use_of_this_thread();
    const std::lock_guard lock(mutex_);
    blocks_.insert_or_assign(address, Block{account, bytes, use});
    account->note(use, bytes);
  }

  void put_back(std::uintptr_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    found->second.account->remove(found->second.use, found->second.bytes);
    blocks_.erase(found);
  }

  void count_as(std::uintptr_t address, Use use) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    found->second.account->move(found->second.use, use, found->second.bytes);
    found->second.use = use;
  }

 private:
  struct Block {
    MemoryAccount* account;
    std::uint64_t bytes;
    Use use;
  };

  std::atomic<MemoryAccount*> default_account_{nullptr};
  std::mutex mutex_;
  std::unordered_map<std::uintptr_t, Block> blocks_;
  std::vector<std::shared_ptr<MemoryAccount>> accounts_;
};

// There is one allocator a process, and it frees blocks until the very end: never destroyed.
DeviceBlocks& the_blocks() {
  static DeviceBlocks& blocks = *new DeviceBlocks;
  return blocks;
}

}  // namespace

void count_device_blocks(std::shared_ptr<MemoryAccount> account) {
  the_blocks().count_in(std::move(account));
}

bool device_blocks_are_counted() {
  return device_account() != nullptr;
}

MemoryAccount* device_account() {
  return the_blocks().current();
}

// Where the host has no room for a note, the block is not counted: the run has worse to tell.
void device_block_taken(std::uintptr_t address, std::uint64_t bytes) noexcept {
  try {
    the_blocks().take(address, bytes);
  } catch (const std::bad_alloc&) {
  }
}

void device_block_returned(std::uintptr_t address) noexcept {
  the_blocks().put_back(address);
}

void count_device_block_as(std::uintptr_t address, Use use) noexcept {
  the_blocks().count_as(address, use);
}

BackwardScope::BackwardScope() {
  MemoryAccount* const account = device_account();
  if (account == nullptr) return;
  lent_ =
      std::make_unique<c10::DebugInfoGuard>(kCarried, std::make_shared<Lent>(account, use_of_this_thread()));
}

BackwardScope::~BackwardScope() = default;

}  // namespace lockstep::measure
