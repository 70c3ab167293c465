#include "lockstep/device/cuda/kernels/row_shape.h"

#include "lockstep/device/cuda/kernels/row_grid.h"

namespace lockstep::device::cuda {

std::int64_t sum_partials(const RowShape& shape) {
  return row_grid(shape, kSumPlan).blocks.y * kMostSums * shape.channels;
}

std::int64_t sum_arrivals(const RowShape& shape) {
  return row_grid(shape, kSumPlan).blocks.x;
}

}  // namespace lockstep::device::cuda
