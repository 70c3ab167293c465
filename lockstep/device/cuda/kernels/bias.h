// The bias of a convolution or a linear layer and the ReLU after it, in one pass over a bf16 map in
// channels-last order.
#pragma once

#include <cuda_runtime_api.h>

#include "lockstep/device/cuda/kernels/row_shape.h"

namespace lockstep::device::cuda {

struct BiasForward {
  RowShape shape;
  void* map = nullptr;  // in place
  const void* bias = nullptr;
  bool relu = false;
};
void bias_forward(const BiasForward& task, cudaStream_t stream);

struct BiasBackward {
  RowShape shape;
  const void* output = nullptr;  // for the ReLU; null: there was none
  const void* output_gradient = nullptr;
  void* map_gradient = nullptr;  // null: it is the output's
  void* bias_gradient = nullptr;
  bool accumulate = false;  // onto the bias's gradient
};
void bias_backward(const BiasBackward& task, const SumSpace& space, cudaStream_t stream);

}  // namespace lockstep::device::cuda
