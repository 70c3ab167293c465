// Stands in for CUDA's header of this name, so that kernels are compiled by the host's compiler, with its
// sanitizers, and run on threads of the host, one block after the other. It has what the kernels for rows
// use, and needs no CUDA; how a GPU orders memory and how fast it is, it cannot show.
#pragma once

#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__ static  // a process runs one block at a time

using cudaStream_t = void*;

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace lockstep::testing {

inline std::barrier<>* host_barrier = nullptr;  // of the block that runs

// `kernel` is called by every thread of every block.
inline void run_on_host(const dim3& blocks, const dim3& threads, const std::function<void()>& kernel) {
  const auto count = static_cast<std::ptrdiff_t>(threads.x * threads.y);
  for (unsigned block = 0; block < blocks.x * blocks.y; ++block) {
    std::barrier<> barrier(count);
    host_barrier = &barrier;
    std::vector<std::jthread> running;
    for (unsigned thread = 0; thread < threads.x * threads.y; ++thread)
      running.emplace_back([&, thread, block] {
        threadIdx = {thread % threads.x, thread / threads.x, 0};
        blockIdx = {block % blocks.x, block / blocks.x, 0};
        blockDim = threads;
        gridDim = blocks;
        kernel();
      });
  }
}

}  // namespace lockstep::testing

inline void __syncthreads() {
  lockstep::testing::host_barrier->arrive_and_wait();
}
// An exchange is a fence too, and one that the thread sanitizer knows.
inline void __threadfence() {
  static std::atomic<unsigned> fence{0};
  fence.fetch_add(1);
}
inline unsigned atomicAdd(unsigned* word, unsigned more) {
  return std::atomic_ref(*word).fetch_add(more);
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
inline double rsqrt(double value) {
  return 1 / std::sqrt(value);
}
