// Lets kernels run on threads of the host, one block after the other, as a test of their logic: the protocol
// between ranks, and who reads what from where. What it cannot show is a GPU's memory model and its speed.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <sched.h>

#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __noinline__
#define __shared__ static  // a process runs one block at a time
#define __launch_bounds__(...)
#define __grid_constant__
#define __noinline__

namespace lockstep::testing {

inline constexpr unsigned kHostThreads = 8;  // of a block

struct HostBlock {
  std::barrier<> barrier{kHostThreads};
  std::atomic<bool> vote{false};
};
inline HostBlock* host_block = nullptr;

}  // namespace lockstep::testing

inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
  lockstep::testing::host_block->barrier.arrive_and_wait();
}
inline int __syncthreads_or(int vote) {
  lockstep::testing::HostBlock& block = *lockstep::testing::host_block;
  if (vote != 0) block.vote = true;
  __syncthreads();
  const bool any = block.vote;
  __syncthreads();
  block.vote = false;
  __syncthreads();
  return any ? 1 : 0;
}
inline void __nanosleep(unsigned) {
  ::sched_yield();
}
// An exchange is a fence too, and one that the thread sanitizer knows.
inline void __threadfence_system() {
  static std::atomic<unsigned> fence{0};
  fence.fetch_add(1);
}
inline unsigned atomicCAS(unsigned* word, unsigned expected, unsigned desired) {
  std::atomic_ref(*word).compare_exchange_strong(expected, desired);
  return expected;
}
inline void __threadfence() {
  __threadfence_system();
}
inline unsigned atomicInc(unsigned* word, unsigned most) {
  const unsigned before = *word;  // a process runs one block at a time
  *word = before >= most ? 0 : before + 1;
  return before;
}
template <typename T>
T __ldcg(const T* from) {
  return *from;
}
inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
inline unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}

#include "lockstep/comm/p2p/words.cuh"

namespace lockstep::comm::p2p {

inline std::uint64_t load_acquire(const std::uint64_t* word) {
  ::sched_yield();
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
inline void store_release(std::uint64_t* word, std::uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
inline std::uint32_t load_acquire(const std::uint32_t* word) {
  ::sched_yield();
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
inline void store_release(std::uint32_t* word, std::uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
inline void store_relaxed(std::uint32_t* word, std::uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
inline std::uint32_t load_relaxed(const std::uint32_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
inline std::uint64_t nanoseconds_now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace lockstep::comm::p2p

namespace lockstep::testing {

inline void run_block(unsigned block, unsigned blocks, const std::function<void()>& kernel) {
  HostBlock state;
  host_block = &state;
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < kHostThreads; ++thread)
    threads.emplace_back([=, &kernel] {
      threadIdx = dim3(thread);
      threadIdx.x = thread;
      blockIdx.x = block;
      blockDim = dim3(kHostThreads);
      gridDim = dim3(blocks);
      kernel();
    });
}

// Blocks wait for the same block of the peers only, so one after the other is an order that a GPU may choose.
inline void run_kernel(unsigned blocks, const std::function<void()>& kernel) {
  for (unsigned block = 0; block < blocks; ++block) run_block(block, blocks, kernel);
}

}  // namespace lockstep::testing
