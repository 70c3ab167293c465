// How a walk through a map is divided into blocks.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>

#include "lockstep/device/cuda/kernels/row_shape.h"

namespace lockstep::device::cuda {

inline constexpr int kThreads = 256;  // of a block
inline constexpr int kMostSums = 2;
inline constexpr int kAhead = 4;  // rows that a thread loads at once

// How a kernel's blocks lie over a map.
struct RowPlan {
  int most_octets;  // of a tile of channels
  int blocks;       // about
};
// Wide tiles read whole rows of memory.
inline constexpr RowPlan kWalkPlan{16, 1056};
// Narrow ones leave fewer partial sums for the last block of a tile to add up, with more threads for each.
inline constexpr RowPlan kSumPlan{4, 264};

struct RowGrid {
  dim3 blocks;
  dim3 threads;
};

// Tiles are as wide as a power of two that divides the channels.
inline int tile_octets(const RowShape& shape, const RowPlan& plan) {
  const std::int64_t octets = shape.channels / kOctet;
  int width = 1;
  while (width < plan.most_octets && octets % (2 * width) == 0) width *= 2;
  return width;
}

inline RowGrid row_grid(const RowShape& shape, const RowPlan& plan) {
  const int width = tile_octets(shape, plan), height = kThreads / width;
  const auto tiles = static_cast<unsigned>(shape.channels / kOctet / width);
  const std::int64_t wanted = std::max<std::int64_t>(1, plan.blocks / tiles);
  const std::int64_t useful = std::max<std::int64_t>(1, (shape.rows + height - 1) / height);
  return {{tiles, static_cast<unsigned>(std::min(wanted, useful)), 1},
          {static_cast<unsigned>(width), static_cast<unsigned>(height), 1}};
}

}  // namespace lockstep::device::cuda
