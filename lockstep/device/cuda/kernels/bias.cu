#include "lockstep/device/cuda/kernels/bias.h"

#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/kernels/bias_kernels.cuh"
#include "lockstep/device/cuda/kernels/row_grid.h"

namespace lockstep::device::cuda {

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
    add_up_bias_slopes<true><<<grid.blocks, grid.threads, 0, stream>>>(task, space);
  } else {
    add_up_bias_slopes<false><<<grid.blocks, grid.threads, 0, stream>>>(task, space);
  }
  check(cudaGetLastError(), "the gradient of a bias");
}

}  // namespace lockstep::device::cuda
