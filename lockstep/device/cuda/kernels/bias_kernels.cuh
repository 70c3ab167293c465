// The kernels of a bias and the ReLU after it (bias.h). Included by bias.cu, which launches them, and by a test
// that runs them on threads of the host.
#pragma once

#include "lockstep/device/cuda/kernels/bias.h"
#include "lockstep/device/cuda/kernels/rows.cuh"

namespace lockstep::device::cuda {

template <bool kRelu>
__global__ void __launch_bounds__(kThreads) add_bias(const BiasForward task) {
  const Walk walk(task.shape);
  const Reals bias = parameters_at(task.bias, walk.octet);
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
__global__ void __launch_bounds__(kThreads) add_up_bias_slopes(const BiasBackward task, const SumSpace space) {
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

}  // namespace lockstep::device::cuda
