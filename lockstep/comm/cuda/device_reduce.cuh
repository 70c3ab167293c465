// The kernel of a reduction by one GPU. Included by device_reduce.cu, and by a test that runs it on threads of
// the host.
#pragma once

#include "lockstep/comm/cuda/device_reduce.h"
#include "lockstep/comm/cuda/elements.cuh"

namespace lockstep::comm {

// Units [0, count) from `first` bytes on; `Unit` is 16 bytes, or one element where something is not aligned.
template <typename Element, typename Op, typename Unit>
__device__ void reduce_task_units(const DeviceReduceTask& task, std::uint64_t first, std::uint64_t count) {
  using Stored = typename Element::Stored;
  using Combined = typename Element::Combined;
  constexpr unsigned kPerUnit = sizeof(Unit) / sizeof(Stored);
  union Held {
    Unit unit;
    Stored stored[kPerUnit];
  };
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    Combined sums[kPerUnit] = {};
    for (unsigned rank = 0; rank < task.input_count; ++rank) {
      Held held;
      held.unit = __ldcg(reinterpret_cast<const Unit*>(task.inputs[rank] + first) + i);
#pragma unroll
      for (unsigned e = 0; e < kPerUnit; ++e) {
        const Combined value = Element::widen(held.stored[e]);
        sums[e] = rank == 0 ? value : Op::template apply<Combined>(sums[e], value);
      }
    }
    Held result;
#pragma unroll
    for (unsigned e = 0; e < kPerUnit; ++e)
      result.stored[e] = Element::narrow(elements::finished<Op>(sums[e], task.input_count));
    for (unsigned output = 0; output < task.output_count; ++output)
      reinterpret_cast<Unit*>(task.outputs[output] + first)[i] = result.unit;
  }
}

__device__ inline bool all_aligned(const DeviceReduceTask& task) {
  std::uintptr_t bits = 0;
  for (unsigned input = 0; input < task.input_count; ++input)
    bits |= reinterpret_cast<std::uintptr_t>(task.inputs[input]);
  for (unsigned output = 0; output < task.output_count; ++output)
    bits |= reinterpret_cast<std::uintptr_t>(task.outputs[output]);
  return bits % sizeof(uint4) == 0;
}

template <typename Element, typename Op>
__global__ void device_reduce_kernel(const __grid_constant__ DeviceReduceTask task) {
  using Stored = typename Element::Stored;
  const std::uint64_t whole = all_aligned(task) ? task.bytes / sizeof(uint4) * sizeof(uint4) : 0;
  reduce_task_units<Element, Op, uint4>(task, 0, whole / sizeof(uint4));
  reduce_task_units<Element, Op, Stored>(task, whole, (task.bytes - whole) / sizeof(Stored));
}

}  // namespace lockstep::comm
