#include "lockstep/measure/torch/counting_allocator.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "lockstep/base/units.h"
#include "lockstep/measure/torch/block_pool.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/measure/torch/libtorch.h"
#include "lockstep/measure/torch/out_of_memory.h"
#include "lockstep/measure/torch/refusal.h"

namespace lockstep::measure {
namespace {

thread_local MemoryAccount* account_of_this_thread = nullptr;

void release(void* data);

class CountingAllocator final : public HostAllocator {
 public:
  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void use_by_default(std::shared_ptr<MemoryAccount> account) {
    default_account_.store(keep(std::move(account)), std::memory_order_release);
  }
  // Keeps an account for as long as the process lives: tensors outlive the scopes they were made in.
  MemoryAccount* keep(std::shared_ptr<MemoryAccount> account) {
    const std::lock_guard lock(mutex_);
    MemoryAccount* const address = account.get();
    if (std::find(accounts_.begin(), accounts_.end(), account) == accounts_.end())
      accounts_.push_back(std::move(account));
    return address;
  }
  // Where blocks of a GPU are counted, a scope's account is the GPU's.
  MemoryAccount& current() const {
    MemoryAccount* const own = account_of_this_thread;
    if (own != nullptr && !device_blocks_are_counted()) return *own;
    return *default_account_.load(std::memory_order_acquire);
  }
  BlockPool& pool() { return pool_; }

 private:
  c10::DataPtr give(std::size_t bytes) override {
    void* const data = bytes == 0 ? nullptr : take(bytes)->data();
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }

  Block* take(std::size_t bytes) {
    MemoryAccount& account = current();
    const Use use = UseScope::current();
    remembering_refusals([&] { account.add(use, bytes); });
    Block* const block = pool_.take(bytes);
    if (block == nullptr) {
      account.remove(use, bytes);
      remembering_refusals([&] { refuse_for_the_machine(account, bytes); });
    }
    block->account = &account;
    block->bytes = bytes;
    block->use = use;
    return block;
  }

  [[noreturn]] static void refuse_for_the_machine(const MemoryAccount& account, std::uint64_t bytes) {
    constexpr std::uint64_t kNoCap = 0;  // what the machine would have given nobody knows
    const std::uint64_t in_use = account.in_use();
    throw OutOfMemory(in_use + bytes, kNoCap,
                      fmt::format("out of memory: the machine has no {} for a tensor; {} are in use "
                                  "by this worker. Use a smaller batch "
                                  "per worker (--batch-size) or fewer workers on this machine.",
                                  base::format_bytes(bytes), base::format_bytes(in_use)));
  }

  BlockPool pool_;
  std::atomic<MemoryAccount*> default_account_{nullptr};
  std::mutex mutex_;
  std::vector<std::shared_ptr<MemoryAccount>> accounts_;
};

// libtorch keeps a pointer to its allocator for good, and frees tensors until the very end of the process: so
// there is one a process, and it is never destroyed.
CountingAllocator& the_allocator() {
  static CountingAllocator& allocator = *new CountingAllocator;
  return allocator;
}

void release(void* data) {
  if (data == nullptr) return;
  Block* const block = Block::of(data);
  block->account->remove(block->use, block->bytes);
  the_allocator().pool().put_back(block);
}

}  // namespace

void install_counting_allocator(std::shared_ptr<MemoryAccount> account) {
  CountingAllocator& allocator = the_allocator();
  allocator.use_by_default(std::move(account));
  static std::once_flag installed;
  std::call_once(installed, [&] {
    keep_freed_memory_in_malloc();
    install_host_allocator(allocator);
  });
}

AccountScope::AccountScope(std::shared_ptr<MemoryAccount> account) : before_(account_of_this_thread) {
  account_of_this_thread = the_allocator().keep(std::move(account));
}

AccountScope::~AccountScope() {
  account_of_this_thread = before_;
}

MemoryAccount* AccountScope::current() {
  return account_of_this_thread;
}

void count_as(const at::Tensor& tensor, Use use) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  const c10::DataPtr& data = tensor.storage().data_ptr();
  if (tensor.is_cuda()) return count_device_block_as(reinterpret_cast<std::uintptr_t>(data.get()), use);
  if (data.get_deleter() != &release || data.get_context() == nullptr) return;
  Block* const block = Block::of(data.get_context());
  block->account->move(block->use, use, block->bytes);
  block->use = use;
}

std::size_t idle_tensor_bytes() {
  return the_allocator().pool().idle_bytes();
}

void release_idle_tensor_memory() {
  the_allocator().pool().release_idle();
}

}  // namespace lockstep::measure
