// Words through which processors of different ranks talk, and the clock. Declared apart from their
// definitions (words_ptx.cuh), so that a test can run the kernels on threads of the host.
#pragma once

#include <cstdint>

namespace lockstep::comm::p2p {

// At system scope: what was written before the release is seen after the acquire that sees its value.
__device__ inline std::uint64_t load_acquire(const std::uint64_t* word);
__device__ inline void store_release(std::uint64_t* word, std::uint64_t value);
__device__ inline std::uint32_t load_acquire(const std::uint32_t* word);
__device__ inline void store_release(std::uint32_t* word, std::uint32_t value);
__device__ inline void store_relaxed(std::uint32_t* word, std::uint32_t value);
__device__ inline std::uint32_t load_relaxed(const std::uint32_t* word);
__device__ inline std::uint64_t nanoseconds_now();

}  // namespace lockstep::comm::p2p
