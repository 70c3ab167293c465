// Batch norm of bf16 maps in channels-last order, with the shortcut that is added and the ReLU that follows
// in the same pass over memory. Figures of the channels are f32, and are added up in the same order always.
#pragma once

#include <cuda_runtime_api.h>

#include "lockstep/device/cuda/kernels/row_shape.h"

namespace lockstep::device::cuda {

// Kept from forward for backward; each [channels].
struct NormFigures {
  float* mean = nullptr;
  float* inverse_deviation = nullptr;
};

struct NormStatistics {
  RowShape shape;
  const void* input = nullptr;
  NormFigures figures;            // written
  float* running_mean = nullptr;  // null: they do not move
  float* running_variance = nullptr;
  float momentum = 0;
  float epsilon = 0;
};
void norm_statistics(const NormStatistics& task, const SumSpace& space, cudaStream_t stream);

struct NormForward {
  RowShape shape;
  const void* input = nullptr;
  const void* shortcut = nullptr;  // null: there is none
  void* output = nullptr;
  const void* weight = nullptr;  // bf16
  const void* bias = nullptr;    // bf16
  NormFigures figures;
  bool relu = false;
};
void norm_forward(const NormForward& task, cudaStream_t stream);

struct NormBackward {
  RowShape shape;
  const void* input = nullptr;
  const void* output = nullptr;  // for the ReLU; null: there was none
  const void* output_gradient = nullptr;
  const void* weight = nullptr;
  NormFigures figures;
  void* weight_gradient = nullptr;    // bf16
  void* bias_gradient = nullptr;      // bf16
  bool accumulate = false;            // onto the two above
  float* factors = nullptr;           // [3][channels], between the two kernels
  void* shortcut_gradient = nullptr;  // null: there is none
  void* input_gradient = nullptr;
};
void norm_backward(const NormBackward& task, const SumSpace& space, cudaStream_t stream);

}  // namespace lockstep::device::cuda
