// Layer norm and GELU in f32 on the CPU. Rows of a small transformer are as short as one vector, for which
// the library's kernels have more to set up than to compute. Nothing of the standard library is used (see
// attention.h).
#pragma once

#include <cstdint>

namespace lockstep::models::kernels {

struct NormForward {
  std::int64_t rows, width;
  float epsilon;
  const float *x, *weight, *bias;
  float* y;
  float *mean, *scale;  // [rows], for backward: scale is 1 / standard deviation
};

struct NormBackward {
  std::int64_t rows, width;
  const float *x, *weight, *mean, *scale, *y_gradient;
  float* x_gradient;
  float *weight_gradient, *bias_gradient;  // [width], added to
};

struct RowwiseKernels {
  void (*norm_forward)(const NormForward& arrays);
  void (*norm_backward)(const NormBackward& arrays);
  // y = gelu(x), slope = the derivative there (the error function's, not the tanh form); y may be x.
  void (*gelu)(const float* x, std::int64_t count, float* y, float* slope);
};

// The best ones for this processor.
const RowwiseKernels& rowwise_kernels();

}  // namespace lockstep::models::kernels
