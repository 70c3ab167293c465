#include "lockstep/device/cuda/kernels/norm.h"

#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/kernels/norm_kernels.cuh"
#include "lockstep/device/cuda/kernels/row_grid.h"

namespace lockstep::device::cuda {
namespace {

template <bool kShortcut, bool kRelu>
void run_backward(const NormBackward& task, const SumSpace& space, cudaStream_t stream) {
  const RowGrid sums = row_grid(task.shape, kSumPlan);
  add_up_norm_slopes<kShortcut, kRelu><<<sums.blocks, sums.threads, 0, stream>>>(task, space);
  const RowGrid walks = row_grid(task.shape, kWalkPlan);
  give_back<kShortcut, kRelu><<<walks.blocks, walks.threads, 0, stream>>>(task);
}

template <bool kShortcut, bool kRelu>
void run_forward(const NormForward& task, cudaStream_t stream) {
  const RowGrid grid = row_grid(task.shape, kWalkPlan);
  normalise<kShortcut, kRelu><<<grid.blocks, grid.threads, 0, stream>>>(task);
}

}  // namespace

void norm_statistics(const NormStatistics& task, const SumSpace& space, cudaStream_t stream) {
  const RowGrid grid = row_grid(task.shape, kSumPlan);
  find_statistics<<<grid.blocks, grid.threads, 0, stream>>>(task, space);
  check(cudaGetLastError(), "batch norm");
}

void norm_forward(const NormForward& task, cudaStream_t stream) {
  if (task.shortcut != nullptr) {
    task.relu ? run_forward<true, true>(task, stream) : run_forward<true, false>(task, stream);
  } else {
    task.relu ? run_forward<false, true>(task, stream) : run_forward<false, false>(task, stream);
  }
  check(cudaGetLastError(), "batch norm");
}

void norm_backward(const NormBackward& task, const SumSpace& space, cudaStream_t stream) {
  const bool relu = task.output != nullptr;
  if (task.shortcut_gradient != nullptr) {
    relu ? run_backward<true, true>(task, space, stream) : run_backward<true, false>(task, space, stream);
  } else {
    relu ? run_backward<false, true>(task, space, stream) : run_backward<false, false>(task, space, stream);
  }
  check(cudaGetLastError(), "batch norm's backward");
}

}  // namespace lockstep::device::cuda
