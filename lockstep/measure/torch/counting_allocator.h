// The allocator of this process's CPU tensors: counts every tensor in a memory account, by use, and keeps
// freed memory.
//
// An allocation that the account's cap refuses throws OutOfMemory from within libtorch. The type
// survives autograd's backward, after which training can go on; a TorchScript module loses it: see
// out_of_memory.h.
#pragma once

#include <memory>

#include "lockstep/measure/memory_account.h"

namespace at {
class Tensor;
}

namespace lockstep::measure {

// From now on the tensors of this process are counted in `account`, for the use that the thread's UseScope
// says. libtorch knows one allocator a process: it is installed by the first call and stays; a later call
// changes the account only.
void install_counting_allocator(std::shared_ptr<MemoryAccount> account);

// Until the scope ends, tensors that this thread allocates on the worker's device are counted in another
// account: a replica's. A block is taken off the account it was counted in, whoever frees it; accounts are
// therefore never destroyed once they were used here.
class AccountScope {
 public:
  explicit AccountScope(std::shared_ptr<MemoryAccount> account);
  ~AccountScope();
  AccountScope(const AccountScope&) = delete;
  AccountScope& operator=(const AccountScope&) = delete;
  // Null: no scope is open in this thread.
  static MemoryAccount* current();

 private:
  MemoryAccount* before_;
};

// Counts the memory of a tensor for another use: a gradient that autograd made among activations, say.
// Nothing happens to memory that was not allocated here (a bucket's, a file's).
void count_as(const at::Tensor& tensor, Use use);

// What was freed and is kept for later; it is in no account.
std::size_t idle_tensor_bytes();
void release_idle_tensor_memory();

}  // namespace lockstep::measure
