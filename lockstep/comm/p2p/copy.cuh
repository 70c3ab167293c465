// Copies by all threads of a block, in the widest units that both ends allow. Included by kernels only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm::p2p {

// Reads pass by the first-level cache, which does not see what other processors write.
template <typename Unit>
__device__ inline void copy_units(std::byte* to, const std::byte* from, std::uint64_t count) {
  constexpr unsigned kUnroll = 4;
  auto* out = reinterpret_cast<Unit*>(to);
  const auto* in = reinterpret_cast<const Unit*>(from);
  std::uint64_t i = threadIdx.x;
  for (; i + (kUnroll - 1) * blockDim.x < count; i += kUnroll * blockDim.x) {
    Unit held[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) held[u] = __ldcg(in + i + u * blockDim.x);
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) out[i + u * blockDim.x] = held[u];
  }
  for (; i < count; i += blockDim.x) out[i] = __ldcg(in + i);
}

template <typename Unit>
__device__ inline void copy_with_tail(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  const std::uint64_t whole = bytes / sizeof(Unit) * sizeof(Unit);
  copy_units<Unit>(to, from, whole / sizeof(Unit));
  copy_units<unsigned char>(to + whole, from + whole, bytes - whole);
}

// `to` and `from` may be the same, else they do not overlap. Not inlined: every kernel has it several times.
__device__ __noinline__ inline void copy_all(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes == 0 || to == from) return;
  const auto both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (both % 16 == 0)
    copy_with_tail<uint4>(to, from, bytes);
  else if (both % 4 == 0)
    copy_with_tail<unsigned int>(to, from, bytes);
  else if (both % 2 == 0)
    copy_with_tail<unsigned short>(to, from, bytes);
  else
    copy_units<unsigned char>(to, from, bytes);
}

}  // namespace lockstep::comm::p2p
