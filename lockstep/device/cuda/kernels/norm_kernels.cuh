// The kernels of batch norm (norm.h). Included by norm.cu, which launches them, and by a test that runs them on
// threads of the host.
#pragma once

#include "lockstep/device/cuda/kernels/norm.h"
#include "lockstep/device/cuda/kernels/rows.cuh"

namespace lockstep::device::cuda {

// Sums are of distances from the first row, so that a mean far from zero costs no digits of the variance.
__global__ void __launch_bounds__(kThreads) find_statistics(const NormStatistics task, const SumSpace space) {
  const Walk walk(task.shape);
  const Reals origin = reals_at(task.input, walk.octet);
  Reals sums[2] = {Reals::filled(0), Reals::filled(0)};
  const auto load = [&](std::int64_t index) { return octet_at(task.input, index); };
  walk.down(task.shape.rows, load, [&](std::int64_t, const Octet& loaded) {
    const Reals x = widen(loaded);
    for (int i = 0; i < kOctet; ++i) {
      const float distance = x.at[i] - origin.at[i];
      sums[0].at[i] += distance;
      sums[1].at[i] += distance * distance;
    }
  });
  const ChannelSums<2> all{space.partials, space.arrivals};
  all.finish(task.shape, sums, [&](std::int64_t channel, const double(&sum)[2]) {
    const auto count = static_cast<double>(task.shape.rows);
    const double from_origin = sum[0] / count;
    const double variance = fmax(sum[1] / count - from_origin * from_origin, 0.0);
    const Octet octet = octet_at(task.input, channel / kOctet);
    const double mean = from_origin + widen(octet).at[channel % kOctet];
    task.figures.mean[channel] = static_cast<float>(mean);
    task.figures.inverse_deviation[channel] = static_cast<float>(rsqrt(variance + task.epsilon));
    if (task.running_mean == nullptr) return;
    const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
    const double keep = 1.0 - task.momentum;
    task.running_mean[channel] = static_cast<float>(keep * task.running_mean[channel] + task.momentum * mean);
    task.running_variance[channel] =
        static_cast<float>(keep * task.running_variance[channel] + task.momentum * unbiased);
  });
}

template <bool kShortcut, bool kRelu>
__global__ void __launch_bounds__(kThreads) normalise(const NormForward task) {
  const Walk walk(task.shape);
  const Reals weight = parameters_at(task.weight, walk.octet), bias = parameters_at(task.bias, walk.octet);
  const Reals mean = figures_at(task.figures.mean, walk.octet);
  const Reals inverse = figures_at(task.figures.inverse_deviation, walk.octet);
  Reals scale, shift;
  for (int i = 0; i < kOctet; ++i) {
    scale.at[i] = weight.at[i] * inverse.at[i];
    shift.at[i] = bias.at[i] - mean.at[i] * scale.at[i];
  }
  const auto load = [&](std::int64_t index) -> Pair {
    return {octet_at(task.input, index), kShortcut ? octet_at(task.shortcut, index) : Octet{}};
  };
  walk.down(task.shape.rows, load, [&](std::int64_t index, const Pair& loaded) {
    Reals value = widen(loaded.one);
    const Reals shortcut = widen(loaded.other);
    for (int i = 0; i < kOctet; ++i) {
      value.at[i] = value.at[i] * scale.at[i] + shift.at[i];
      if constexpr (kShortcut) value.at[i] += shortcut.at[i];
      if constexpr (kRelu) value.at[i] = value.at[i] < 0 ? 0.0f : value.at[i];
    }
    put(task.output, index, value);
  });
}

// The output's gradient, the output where there was a ReLU, and the input.
template <bool kRelu>
__device__ Triple slope_and_input(const NormBackward& task, std::int64_t index) {
  return {octet_at(task.output_gradient, index), kRelu ? octet_at(task.output, index) : Octet{},
          octet_at(task.input, index)};
}

// The gradient before the ReLU.
template <bool kRelu>
__device__ Reals slope_of(const Triple& loaded) {
  Reals slope = widen(loaded.one);
  if constexpr (kRelu) {
    const Reals output = widen(loaded.other);
    for (int i = 0; i < kOctet; ++i) slope.at[i] = output.at[i] > 0 ? slope.at[i] : 0.0f;
  }
  return slope;
}

// The gradient of the input is f0 * slope + f1 * input + f2 with factors of the channel.
__device__ void write_factors(const NormBackward& task, std::int64_t channel, const double (&sum)[2]) {
  const auto count = static_cast<double>(task.shape.rows);
  const double mean = task.figures.mean[channel], inverse = task.figures.inverse_deviation[channel];
  const double weight = parameter_at(task.weight, channel);
  const double of_slope = weight * inverse;
  const double of_input = -of_slope * inverse * sum[1] / count;
  task.factors[channel] = static_cast<float>(of_slope);
  task.factors[task.shape.channels + channel] = static_cast<float>(of_input);
  task.factors[2 * task.shape.channels + channel] =
      static_cast<float>(-of_slope * sum[0] / count - of_input * mean);
}

template <bool kShortcut, bool kRelu>
__global__ void __launch_bounds__(kThreads) add_up_norm_slopes(const NormBackward task, const SumSpace space) {
  const Walk walk(task.shape);
  const Reals mean = figures_at(task.figures.mean, walk.octet);
  const Reals inverse = figures_at(task.figures.inverse_deviation, walk.octet);
  Reals sums[2] = {Reals::filled(0), Reals::filled(0)};
  const auto load = [&](std::int64_t index) { return slope_and_input<kRelu>(task, index); };
  walk.down(task.shape.rows, load, [&](std::int64_t index, const Triple& loaded) {
    const Reals slope = slope_of<kRelu>(loaded), input = widen(loaded.third);
    for (int i = 0; i < kOctet; ++i) {
      sums[0].at[i] += slope.at[i];
      sums[1].at[i] += slope.at[i] * ((input.at[i] - mean.at[i]) * inverse.at[i]);
    }
    if constexpr (kShortcut) put(task.shortcut_gradient, index, slope);
  });
  const ChannelSums<2> all{space.partials, space.arrivals};
  all.finish(task.shape, sums, [&](std::int64_t channel, const double(&sum)[2]) {
    deliver(task.bias_gradient, channel, static_cast<float>(sum[0]), task.accumulate);
    deliver(task.weight_gradient, channel, static_cast<float>(sum[1]), task.accumulate);
    write_factors(task, channel, sum);
  });
}

template <bool kShortcut, bool kRelu>
__global__ void __launch_bounds__(kThreads) give_back(const NormBackward task) {
  const Walk walk(task.shape);
  const Reals of_slope = figures_at(task.factors, walk.octet);
  const Reals of_input = figures_at(task.factors + task.shape.channels, walk.octet);
  const Reals constant = figures_at(task.factors + 2 * task.shape.channels, walk.octet);
  const auto load = [&](std::int64_t index) -> Triple {
    if constexpr (kShortcut)
      return {octet_at(task.shortcut_gradient, index), Octet{}, octet_at(task.input, index)};
    return slope_and_input<kRelu>(task, index);
  };
  walk.down(task.shape.rows, load, [&](std::int64_t index, const Triple& loaded) {
    const Reals slope = slope_of<kRelu && !kShortcut>(loaded), input = widen(loaded.third);
    Reals gradient;
    for (int i = 0; i < kOctet; ++i)
      gradient.at[i] = of_slope.at[i] * slope.at[i] + of_input.at[i] * input.at[i] + constant.at[i];
    put(task.input_gradient, index, gradient);
  });
}

}  // namespace lockstep::device::cuda
