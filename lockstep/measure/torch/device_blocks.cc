#include "lockstep/measure/torch/device_blocks.h"

#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/measure/torch/libtorch.h"

namespace lockstep::measure {
namespace {

struct Lent final : c10::DebugInfoBase {
  Lent(MemoryAccount* lender, Use lent_use) : account(lender), use(lent_use) {}
  MemoryAccount* account;
  Use use;
};

Use use_of_this_thread() {
  if (const std::optional<Use> own = UseScope::own()) return *own;
  const Lent* lent = carried_here<Lent>();
  return lent != nullptr ? lent->use : Use::other;
}

// Blocks outlive the scopes they were taken in, so accounts are kept for as long as the process lives.
class DeviceBlocks {
 public:
  void count_in(std::shared_ptr<MemoryAccount> account) {
    const std::lock_guard lock(mutex_);
    default_account_.store(account.get(), std::memory_order_release);
    watched_.store(account != nullptr, std::memory_order_release);
    if (account != nullptr) accounts_.push_back(std::move(account));
  }

  void watch(bool yes) { watched_.store(yes, std::memory_order_release); }
  bool watched() const { return watched_.load(std::memory_order_acquire) && current() != nullptr; }

  MemoryAccount* current() const {
    MemoryAccount* const by_default = default_account_.load(std::memory_order_acquire);
    if (by_default == nullptr) return nullptr;
    if (MemoryAccount* const own = AccountScope::current()) return own;
    const Lent* lent = carried_here<Lent>();
    return lent != nullptr ? lent->account : by_default;
  }

  void take(std::uintptr_t address, std::uint64_t bytes) {
    MemoryAccount* const account = current();
    if (account == nullptr) return;
    const Use use = use_of_this_thread();
    const std::lock_guard lock(mutex_);
    forget_within(address, bytes);
    blocks_.emplace(address, Block{account, bytes, use});
    account->note(use, bytes);
  }

  void put_back(std::uintptr_t address) {
    const std::lock_guard lock(mutex_);
    if (const auto found = blocks_.find(address); found != blocks_.end()) forget(found);
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
  using Blocks = std::map<std::uintptr_t, Block>;  // no two of them overlap

  // What lies where a block is given out was returned when nobody watched.
  void forget_within(std::uintptr_t address, std::uint64_t bytes) {
    auto next = blocks_.lower_bound(address);
    if (next != blocks_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second.bytes > address) next = before;
    }
    while (next != blocks_.end() && next->first < address + bytes) next = forget(next);
  }

  Blocks::iterator forget(Blocks::iterator block) {
    block->second.account->remove(block->second.use, block->second.bytes);
    return blocks_.erase(block);
  }

  std::atomic<MemoryAccount*> default_account_{nullptr};
  std::atomic<bool> watched_{false};
  std::mutex mutex_;
  Blocks blocks_;
  std::vector<std::shared_ptr<MemoryAccount>> accounts_;
};

// There is one allocator a process, and it frees blocks until the very end: never destroyed.
DeviceBlocks& the_blocks() {
  static DeviceBlocks& blocks = *new DeviceBlocks;
  return blocks;
}

// Called by the allocator on the thread that asks it for a block or lets go of one, while it holds its own
// lock: nothing here may call it. Where the host has no room for a note, the block is not counted: the run
// has worse to tell.
class Listener final : public MemoryReports {
  void hear(void* address, std::int64_t bytes, c10::Device device) noexcept override {
    if (!device.is_cuda()) return;
    const auto place = reinterpret_cast<std::uintptr_t>(address);  // no two GPUs of a process share any
    try {
      if (bytes < 0)
        the_blocks().put_back(place);
      else
        the_blocks().take(place, static_cast<std::uint64_t>(bytes));
    } catch (const std::bad_alloc&) {
    }
  }
};

constexpr std::uint64_t kFirstSteps = 8;
constexpr std::uint64_t kStepsPerWatch = 16;

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

bool is_worth_watching(std::uint64_t step) {
  return step < kFirstSteps || step % kStepsPerWatch == kFirstSteps;
}

void watch_device_blocks(bool yes) {
  the_blocks().watch(yes);
}

void count_device_block_as(std::uintptr_t address, Use use) noexcept {
  if (the_blocks().watched()) the_blocks().count_as(address, use);
}

DeviceWatch::DeviceWatch() {
  if (!the_blocks().watched()) return;
  static const auto listener = std::make_shared<Listener>();
  told_ = report_memory_to(listener);
}

DeviceWatch::~DeviceWatch() = default;

BackwardScope::BackwardScope() {
  MemoryAccount* const account = device_account();
  if (account == nullptr) return;
  lent_ = carry(std::make_shared<Lent>(account, use_of_this_thread()));
}

BackwardScope::~BackwardScope() = default;

}  // namespace lockstep::measure
