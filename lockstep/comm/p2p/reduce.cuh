// Reductions of a range of elements over all ranks by all threads of a block, in the order of the ranks.
// Included by kernels only.
#pragma once

#include "lockstep/comm/cuda/elements.cuh"
#include "lockstep/comm/p2p/kernels.h"

namespace lockstep::comm::p2p {

using namespace elements;  // NOLINT(google-build-using-namespace): kernels only

// One range: this rank's addend lies in its own memory, the peers' in their regions. The result goes to
// `output` and, unless it is null, to `copy`.
struct Range {
  const std::byte* own;
  std::byte* output;
  std::byte* copy;
  std::uint64_t bytes;
};

// Units [0, count) from `first` bytes on; `Unit` is 16 bytes, or one element where something is not aligned.
// `addends` is in shared memory. Not inlined, so that the loop has the registers for itself.
template <typename Element, typename Op, typename Unit, unsigned kUnroll>
__device__ __noinline__ void reduce_units(const std::byte* const* addends, unsigned world, const Range& range,
                                          std::uint64_t first, std::uint64_t count) {
  using Stored = typename Element::Stored;
  using Combined = typename Element::Combined;
  constexpr unsigned kPerUnit = sizeof(Unit) / sizeof(Stored);
  union Held {
    Unit unit;
    Stored stored[kPerUnit];
  };
  std::byte* const output = range.output + first;
  std::byte* const copy = range.copy == nullptr ? nullptr : range.copy + first;
  const std::uint64_t stride = blockDim.x;
  for (std::uint64_t i = threadIdx.x; i < count; i += kUnroll * stride) {
    Combined sums[kUnroll][kPerUnit] = {};
    for (unsigned rank = 0; rank < world; ++rank) {
      const Unit* source = reinterpret_cast<const Unit*>(addends[rank] + first) + i;
      Held held[kUnroll];
#pragma unroll
      for (unsigned u = 0; u < kUnroll; ++u)
        held[u].unit = i + u * stride < count ? __ldcg(source + u * stride) : Unit{};
#pragma unroll
      for (unsigned u = 0; u < kUnroll; ++u)
#pragma unroll
        for (unsigned e = 0; e < kPerUnit; ++e) {
          const Combined value = Element::widen(held[u].stored[e]);
          sums[u][e] = rank == 0 ? value : Op::template apply<Combined>(sums[u][e], value);
        }
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::uint64_t index = i + u * stride;
      if (index >= count) continue;
      Held result;
#pragma unroll
      for (unsigned e = 0; e < kPerUnit; ++e)
        result.stored[e] = Element::narrow(finished<Op>(sums[u][e], world));
      reinterpret_cast<Unit*>(output)[index] = result.unit;
      if (copy != nullptr) reinterpret_cast<Unit*>(copy)[index] = result.unit;
    }
  }
}

// `offset_in_arena`, of the peers' addends, is a multiple of 16. Called between two meetings: the table of
// addends is not written again before all threads are done with it.
template <typename Element, typename Op>
__device__ inline void reduce_all(const Task& task, const Range& range, std::uint64_t offset_in_arena) {
  using Stored = typename Element::Stored;
  // Sixteen sums a thread at most: what registers hold, and enough loads under way.
  constexpr unsigned kPerUnit = sizeof(uint4) / sizeof(Stored);
  constexpr unsigned kUnroll = kPerUnit >= 4 ? 16 / kPerUnit : 4;
  __shared__ const std::byte* addends[kMostRanks];
  if (threadIdx.x < task.world)
    addends[threadIdx.x] = threadIdx.x == task.rank ? range.own : task.arenas[threadIdx.x] + offset_in_arena;
  __syncthreads();
  const auto alignment = reinterpret_cast<std::uintptr_t>(range.own) |
                         reinterpret_cast<std::uintptr_t>(range.output) |
                         reinterpret_cast<std::uintptr_t>(range.copy);
  const std::uint64_t whole =
      alignment % sizeof(uint4) == 0 ? range.bytes / sizeof(uint4) * sizeof(uint4) : 0;
  reduce_units<Element, Op, uint4, kUnroll>(addends, task.world, range, 0, whole / sizeof(uint4));
  reduce_units<Element, Op, Stored, 1>(addends, task.world, range, whole,
                                       (range.bytes - whole) / sizeof(Stored));
}

}  // namespace lockstep::comm::p2p
