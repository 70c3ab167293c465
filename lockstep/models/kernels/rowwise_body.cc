// LOCKSTEP_ISA names the instruction set this copy is compiled for.
#include "lockstep/models/kernels/rowwise.h"

#include "lockstep/models/kernels/exponential.h"

namespace lockstep::models::kernels {
namespace {

using Index = std::int64_t;

// Width is known to the compiler where it is not 0: short rows then stay in registers.
template <Index Width>
void norm_rows(const NormForward& a) {
  const Index width = Width > 0 ? Width : a.width;
  const float share = 1.0F / static_cast<float>(width);
  for (Index row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * width;
    float* y = a.y + row * width;
    float sum = 0.0F, squares = 0.0F;
    for (Index c = 0; c < width; ++c) sum += x[c];
    const float mean = sum * share;
    for (Index c = 0; c < width; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1.0F / __builtin_sqrtf(squares * share + a.epsilon);
    for (Index c = 0; c < width; ++c) y[c] = (x[c] - mean) * scale * a.weight[c] + a.bias[c];
    a.mean[row] = mean;
    a.scale[row] = scale;
  }
}

// With d the normalised deviation and g the gradient times the weight:
// x's gradient = scale * (g - mean(g) - d * mean(g * d))
template <Index Width>
void norm_rows_backward(const NormBackward& a) {
  const Index width = Width > 0 ? Width : a.width;
  const float share = 1.0F / static_cast<float>(width);
  for (Index row = 0; row < a.rows; ++row) {
    const float *x = a.x + row * width, *gradient = a.y_gradient + row * width;
    float* out = a.x_gradient + row * width;
    const float mean = a.mean[row], scale = a.scale[row];
    float sum = 0.0F, product = 0.0F;
    for (Index c = 0; c < width; ++c) {
      const float deviation = (x[c] - mean) * scale;
      const float weighted = gradient[c] * a.weight[c];
      sum += weighted;
      product += weighted * deviation;
      a.weight_gradient[c] += gradient[c] * deviation;
      a.bias_gradient[c] += gradient[c];
    }
    const float level = sum * share, slope = product * share;
    for (Index c = 0; c < width; ++c)
      out[c] = scale * (gradient[c] * a.weight[c] - level - (x[c] - mean) * scale * slope);
  }
}

// Sums in arrays of their own, which the compiler knows to lie apart from everything else.
template <Index Width>
void norm_backward_apart(const NormBackward& a) {
  float weight_gradient[Width] = {}, bias_gradient[Width] = {};
  NormBackward apart = a;
  apart.weight_gradient = weight_gradient;
  apart.bias_gradient = bias_gradient;
  norm_rows_backward<Width>(apart);
  for (Index c = 0; c < Width; ++c) {
    a.weight_gradient[c] += weight_gradient[c];
    a.bias_gradient[c] += bias_gradient[c];
  }
}

void norm_forward(const NormForward& a) {
  if (a.width == 8) return norm_rows<8>(a);
  if (a.width == 16) return norm_rows<16>(a);
  if (a.width == 32) return norm_rows<32>(a);
  norm_rows<0>(a);
}

void norm_backward(const NormBackward& a) {
  if (a.width == 8) return norm_backward_apart<8>(a);
  if (a.width == 16) return norm_backward_apart<16>(a);
  if (a.width == 32) return norm_backward_apart<32>(a);
  norm_rows_backward<0>(a);
}

// The normal distribution's probability below x, by a rational form of the error function (Abramowitz and
// Stegun, 7.1.26: 1.5e-7 at most off), from the same exponential that its density takes.
void gelu(const float* x, Index count, float* y, float* slope) {
  for (Index i = 0; i < count; ++i) {
    const float value = x[i];
    const float size = (value < 0.0F ? -value : value) * 0.70710678118F;
    const float bell = exponential(-size * size);
    const float t = 1.0F / (1.0F + 0.3275911F * size);
    const float poly =
        t *
        (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
    const float tail = 0.5F * poly * bell;
    const float below = value < 0.0F ? tail : 1.0F - tail;
    slope[i] = below + value * 0.39894228040F * bell;
    y[i] = value * below;
  }
}

}  // namespace

namespace LOCKSTEP_ISA {
extern const RowwiseKernels kRowwise;
const RowwiseKernels kRowwise = {&norm_forward, &norm_backward, &gelu};
}  // namespace LOCKSTEP_ISA

}  // namespace lockstep::models::kernels
