// Max-pool of 2x2 windows in f32 on the CPU, over planes that lie one after the other. The library's own
// kernel decides value by value and keeps eight bytes for each window; here a window's place is one byte, and
// rows are done in vectors. Nothing of the standard library is used (see attention.h).
#pragma once

#include <cstdint>

namespace lockstep::models::kernels {

// Of the input; a last odd row or column belongs to no window.
struct PoolShape {
  std::int64_t planes;
  std::int64_t height;
  std::int64_t width;
};

struct PoolKernels {
  // out and place are [planes, height / 2, width / 2]; place is 0 to 3: the first largest value of the window
  // in reading order, or a NaN.
  void (*forward)(const PoolShape& shape, const float* in, float* out, std::uint8_t* place);
  // in_gradient [planes, height, width] is written as a whole.
  void (*backward)(const PoolShape& shape, const float* out_gradient, const std::uint8_t* place,
                   float* in_gradient);
};

// The best ones for this processor.
const PoolKernels& pool_kernels();

}  // namespace lockstep::models::kernels
