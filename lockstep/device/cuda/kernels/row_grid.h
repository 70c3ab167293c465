// How a walk through a map is divided into blocks.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "lockstep/device/cuda/kernels/row_shape.h"

namespace lockstep::device::cuda {

inline constexpr int kThreads = 256;      // of a block
inline constexpr int kMostOctets = 16;    // of a tile
inline constexpr int kSumBlocks = 264;    // two for each multiprocessor of an H200
inline constexpr int kWalkBlocks = 1056;  // eight
inline constexpr int kMostSums = 2;

struct RowGrid {
  dim3 blocks;
  dim3 threads;
};

// Tiles are as wide as a power of two that divides the channels, up to 128 of them.
inline int tile_octets(const RowShape& shape) {
  const std::int64_t octets = shape.channels / kOctet;
  int width = 1;
  while (width < kMostOctets && octets % (2 * width) == 0) width *= 2;
  return width;
}

inline RowGrid row_grid(const RowShape& shape, int most_blocks) {
  const int width = tile_octets(shape), height = kThreads / width;
  const auto tiles = static_cast<unsigned>(shape.channels / kOctet / width);
  const std::int64_t wanted = std::max<std::int64_t>(1, most_blocks / tiles);
  const std::int64_t useful = std::max<std::int64_t>(1, (shape.rows + height - 1) / height);
  return {{tiles, static_cast<unsigned>(std::min(wanted, useful)), 1},
          {static_cast<unsigned>(width), static_cast<unsigned>(height), 1}};
}

}  // namespace lockstep::device::cuda
