// The words of words.cuh in PTX, whose memory model reaches from one process's kernel to another's. Included
// by kernels.cu only, which keeps them inside its own file.
#pragma once

#include "lockstep/comm/p2p/words.cuh"

namespace lockstep::comm::p2p {

__device__ __forceinline__ std::uint64_t load_acquire(const std::uint64_t* word) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(std::uint64_t* word, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(std::uint32_t* word, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}
__device__ __forceinline__ void store_relaxed(std::uint32_t* word, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* word) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ std::uint64_t nanoseconds_now() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
}

}  // namespace lockstep::comm::p2p
