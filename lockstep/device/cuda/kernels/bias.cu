#include "lockstep/device/cuda/kernels/bias.h"

#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/kernels/row_grid.h"
#include "lockstep/device/cuda/kernels/rows.cuh"

namespace lockstep::device::cuda {
namespace {

template <bool kRelu>
__global__ void __launch_bounds__(kThreads) add_bias(const BiasForward task) {
  const Walk walk(task.shape);
  const Reals bias = reals_at(task.bias, walk.octet);
  const auto load = [&](std::int64_t index) { return octet_at(task.map, index); };
  walk.down(task.shape.rows, load, [&](std::int64_t index, const Octet& loaded) {
    Reals value = widen(loaded);
    for (int i = 0; i < kOctet; ++i) {
      value.at[i] += bias.at[i];
      if constexpr (kRelu) value.at[i] = value.at[i] < 0 ? 0.0f : value.at[i];
    }
    put(task.map, index, value);
  });
}

template <bool kRelu>
__global__ void __launch_bounds__(kThreads) add_up_slopes(const BiasBackward task, const SumSpace space) {
  const Walk walk(task.shape);
  Reals sums[1] = {Reals::filled(0)};
  const auto load = [&](std::int64_t index) -> Pair {
    return {octet_at(task.output_gradient, index), kRelu ? octet_at(task.output, index) : Octet{}};
  };
  walk.down(task.shape.rows, load, [&](std::int64_t index, const Pair& loaded) {
    Reals slope = widen(loaded.one);
    if constexpr (kRelu) {
      const Reals output = widen(loaded.other);
      for (int i = 0; i < kOctet; ++i) slope.at[i] = output.at[i] > 0 ? slope.at[i] : 0.0f;
      put(task.map_gradient, index, slope);
    }
    for (int i = 0; i < kOctet; ++i) sums[0].at[i] += slope.at[i];
  });
  const ChannelSums<1> all{space.partials, space.arrivals};
  all.finish(task.shape, sums, [&](std::int64_t channel, const double(&sum)[1]) {
    deliver(task.bias_gradient, channel, static_cast<float>(sum[0]), task.accumulate);
  });
}

}  // namespace

void bias_forward(const BiasForward& task, cudaStream_t stream) {
  const RowGrid grid = row_grid(task.shape, kWalkPlan);
  if (task.relu) {
    add_bias<true><<<grid.blocks, grid.threads, 0, stream>>>(task);
  } else {
    add_bias<false><<<grid.blocks, grid.threads, 0, stream>>>(task);
  }
  check(cudaGetLastError(), "adding a bias");
}

void bias_backward(const BiasBackward& task, const SumSpace& space, cudaStream_t stream) {
  const RowGrid grid = row_grid(task.shape, kSumPlan);
  if (task.output != nullptr) {
    add_up_slopes<true><<<grid.blocks, grid.threads, 0, stream>>>(task, space);
  } else {
    add_up_slopes<false><<<grid.blocks, grid.threads, 0, stream>>>(task, space);
  }
  check(cudaGetLastError(), "the gradient of a bias");
}

}  // namespace lockstep::device::cuda
