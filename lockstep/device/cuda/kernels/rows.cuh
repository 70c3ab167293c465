// How kernels walk through a map in channels-last order: rows (images, height, width) of channels, bf16. A
// thread stays with eight neighbouring channels, whose factors it keeps in registers, and goes down the rows;
// a block has a tile of channels. Included by kernels only.
#pragma once

#include <cstdint>

#include "lockstep/device/cuda/kernels/row_grid.h"

namespace lockstep::device::cuda {

// Eight bf16, moved by one instruction.
struct alignas(16) Octet {
  std::uint32_t pairs[kOctet / 2];
};

// Eight f32 in registers.
struct Reals {
  float at[kOctet];

  __device__ static Reals filled(float value) {
    Reals reals;
    for (float& one : reals.at) one = value;
    return reals;
  }
};

__device__ inline Reals widen(const Octet& octet) {
  Reals reals;
  for (int i = 0; i < kOctet / 2; ++i) {
    reals.at[2 * i] = __uint_as_float(octet.pairs[i] << 16);
    reals.at[2 * i + 1] = __uint_as_float(octet.pairs[i] & 0xffff0000u);
  }
  return reals;
}

// To the nearest, ties to even; a NaN stays one.
__device__ inline std::uint32_t rounded_bits(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  return value != value ? 0x7fc0u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

__device__ inline Octet narrow(const Reals& reals) {
  Octet octet;
  for (int i = 0; i < kOctet / 2; ++i)
    octet.pairs[i] = rounded_bits(reals.at[2 * i]) | rounded_bits(reals.at[2 * i + 1]) << 16;
  return octet;
}

// What of a row is loaded.
struct Pair {
  Octet one, other;
};
struct Triple {
  Octet one, other, third;
};

// Where a thread is: its octet of channels and the rows it takes.
struct Walk {
  std::int64_t octets;  // of a row
  std::int64_t octet;
  std::int64_t row;
  std::int64_t stride;

  __device__ explicit Walk(const RowShape& shape)
      : octets(shape.channels / kOctet),
        octet(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x),
        row(static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y),
        stride(static_cast<std::int64_t>(gridDim.y) * blockDim.y) {}

  // For every row of this thread: use(index of its octet, load(index)). Several rows are loaded before the
  // first is used, so that their way from memory overlaps.
  template <class Load, class Use>
  __device__ void down(std::int64_t rows, const Load& load, const Use& use) const {
    std::int64_t index = row * octets + octet;
    const std::int64_t step = stride * octets, end = rows * octets;
    for (; index + (kAhead - 1) * step < end; index += kAhead * step) {
      decltype(load(index)) loaded[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) loaded[i] = load(index + i * step);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) use(index + i * step, loaded[i]);
    }
    for (; index < end; index += step) use(index, load(index));
  }
};

__device__ inline Octet octet_at(const void* map, std::int64_t index) {
  return static_cast<const Octet*>(map)[index];
}
__device__ inline Reals reals_at(const void* map, std::int64_t index) {
  return widen(octet_at(map, index));
}
__device__ inline void put(void* map, std::int64_t index, const Reals& values) {
  static_cast<Octet*>(map)[index] = narrow(values);
}
// One parameter of a channel.
__device__ inline float parameter_at(const void* parameters, std::int64_t channel) {
  return __uint_as_float(static_cast<std::uint32_t>(static_cast<const unsigned short*>(parameters)[channel])
                         << 16);
}
// The parameters of eight channels. Unlike maps they may begin at any element (in a bucket, behind a tensor of
// any size): then each is read by itself, once a thread, and the values are the same.
__device__ inline Reals parameters_at(const void* parameters, std::int64_t octet) {
  if (reinterpret_cast<std::uintptr_t>(parameters) % sizeof(Octet) == 0) return reals_at(parameters, octet);
  Reals reals;
  for (int i = 0; i < kOctet; ++i) reals.at[i] = parameter_at(parameters, octet * kOctet + i);
  return reals;
}
// Of f32 figures of the channels.
__device__ inline Reals figures_at(const float* figures, std::int64_t octet) {
  Reals reals;
  for (int i = 0; i < kOctet; ++i) reals.at[i] = figures[octet * kOctet + i];
  return reals;
}

// Writes the gradient of one channel's parameter.
__device__ inline void deliver(void* gradients, std::int64_t channel, float value, bool accumulate) {
  auto* bits = static_cast<unsigned short*>(gradients) + channel;
  const float before = accumulate ? __uint_as_float(static_cast<std::uint32_t>(*bits) << 16) : 0.0f;
  *bits = static_cast<unsigned short>(rounded_bits(before + value));
}

// Adds up `kSums` figures of each channel over all rows, always in the same order: over the block in shared
// memory, into a row of partial sums a block; the last block of a tile to end adds those up, in double, and
// calls finish(channel, sums) for each of its channels.
template <int kSums>
struct ChannelSums {
  float* partials;          // [gridDim.y][kSums][channels]
  std::uint32_t* arrivals;  // one for each tile; zero, and zero again afterwards

  template <class Finish>
  __device__ void finish(const RowShape& shape, Reals (&sums)[kSums], const Finish& finish) const {
    add_up_block(sums);
    if (threadIdx.y == 0) write_partials(shape, sums);
    __threadfence();
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) last = atomicAdd(arrivals + blockIdx.x, 1u) == gridDim.y - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x == 0 && threadIdx.y == 0) arrivals[blockIdx.x] = 0;
    add_up_partials(shape, finish);
  }

 private:
  __device__ static void add_up_block(Reals (&sums)[kSums]) {
    __shared__ float shared[kSums][kThreads * kOctet];
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    for (int s = 0; s < kSums; ++s) {
      for (int i = 0; i < kOctet; ++i) shared[s][i * kThreads + thread] = sums[s].at[i];
    }
    for (int half = static_cast<int>(blockDim.y) / 2; half > 0; half /= 2) {
      __syncthreads();
      if (static_cast<int>(threadIdx.y) >= half) continue;
      const int other = thread + half * static_cast<int>(blockDim.x);
      for (int s = 0; s < kSums; ++s) {
        for (int i = 0; i < kOctet; ++i) shared[s][i * kThreads + thread] += shared[s][i * kThreads + other];
      }
    }
    for (int s = 0; s < kSums; ++s) {
      for (int i = 0; i < kOctet; ++i) sums[s].at[i] = shared[s][i * kThreads + thread];
    }
  }

  __device__ void write_partials(const RowShape& shape, const Reals (&sums)[kSums]) const {
    const std::int64_t channel = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kOctet;
    for (int s = 0; s < kSums; ++s) {
      float* row = partials + (static_cast<std::int64_t>(blockIdx.y) * kSums + s) * shape.channels + channel;
      for (int i = 0; i < kOctet; ++i) row[i] = sums[s].at[i];
    }
  }

  // A tile has `width` channels; kThreads / width threads share each of them.
  template <class Finish>
  __device__ void add_up_partials(const RowShape& shape, const Finish& finish) const {
    __shared__ double shared[kSums][kThreads];
    const int width = static_cast<int>(blockDim.x) * kOctet;
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const int share = thread / width, shares = kThreads / width;
    const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * width + thread % width;
    double sums[kSums] = {};
#pragma unroll 4
    for (std::uint32_t block = share; block < gridDim.y; block += shares) {
      for (int s = 0; s < kSums; ++s)
        sums[s] +=
            __ldcg(partials + (static_cast<std::int64_t>(block) * kSums + s) * shape.channels + channel);
    }
    for (int s = 0; s < kSums; ++s) shared[s][thread] = sums[s];
    __syncthreads();
    if (share != 0) return;
    for (double& sum : sums) sum = 0;
    for (int s = 0; s < kSums; ++s) {
      for (int i = 0; i < shares; ++i) sums[s] += shared[s][i * width + thread];
    }
    finish(channel, sums);
  }
};

}  // namespace lockstep::device::cuda
