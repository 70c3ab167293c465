// LOCKSTEP_ISA names the instruction set this copy is compiled for. Inner loops run over tokens, which are
// padded to whole vectors; maps are kept transposed ([side][tokens]) for that reason.
#include "lockstep/models/kernels/attention.h"

#include "lockstep/models/kernels/exponential.h"

namespace lockstep::models::kernels {
namespace {

using Index = std::int64_t;

float reciprocal_root(Index side) {
  return 1.0F / __builtin_sqrtf(static_cast<float>(side));
}

struct Head {
  const AttentionShape& shape;
  Index head;
  Index pad = padded_tokens(shape.tokens);
  Index width = shape.heads * shape.side;

  Index token(Index sample, Index t) const { return (sample * shape.tokens + t) * width + head * shape.side; }
  Index weight(Index map) const { return (map * shape.heads + head) * shape.side * shape.side; }
  Index bias(Index map) const { return (map * shape.heads + head) * shape.side; }
  Index row(Index sample, Index t) const { return ((head * shape.batch + sample) * shape.tokens + t) * pad; }
};

// out[side][pad] = the head's slice of x, transposed; padding is zero.
void transpose_slice(const Head& at, Index sample, const float* x, float* out) {
  for (Index c = 0; c < at.shape.side; ++c) {
    for (Index t = 0; t < at.pad; ++t) out[c * at.pad + t] = 0.0F;
  }
  for (Index t = 0; t < at.shape.tokens; ++t) {
    for (Index c = 0; c < at.shape.side; ++c) out[c * at.pad + t] = x[at.token(sample, t) + c];
  }
}

// out[o][t] = bias[o] + sum over c of weight[o][c] * slice[c][t]
void apply_map(const Head& at, const float* slice, const float* weight, const float* bias, float* out) {
  for (Index o = 0; o < at.shape.side; ++o) {
    float* row = out + o * at.pad;
    for (Index t = 0; t < at.pad; ++t) row[t] = bias[o];
    for (Index c = 0; c < at.shape.side; ++c) {
      const float factor = weight[o * at.shape.side + c];
      for (Index t = 0; t < at.pad; ++t) row[t] += factor * slice[c * at.pad + t];
    }
  }
}

void apply_maps(const Head& at, const float* slice, const float* weight, const float* bias, float* q,
                float* k, float* v) {
  apply_map(at, slice, weight + at.weight(0), bias + at.bias(0), q);
  apply_map(at, slice, weight + at.weight(1), bias + at.bias(1), k);
  apply_map(at, slice, weight + at.weight(2), bias + at.bias(2), v);
}

// row[j] = sum over c of q[c][i] * k[c][j] * scale
void scores(const Head& at, const float* q, const float* k, Index i, float scale, float* row) {
  for (Index j = 0; j < at.pad; ++j) row[j] = 0.0F;
  for (Index c = 0; c < at.shape.side; ++c) {
    const float factor = q[c * at.pad + i] * scale;
    for (Index j = 0; j < at.pad; ++j) row[j] += factor * k[c * at.pad + j];
  }
}

float largest(const float* row, Index count) {
  float most = row[0];
  for (Index j = 1; j < count; ++j) most = row[j] > most ? row[j] : most;
  return most;
}

void softmax(const Head& at, float* row) {
  const float most = largest(row, at.shape.tokens);
  for (Index j = 0; j < at.pad; ++j) row[j] = exponential(row[j] > most ? 0.0F : row[j] - most);
  for (Index j = at.shape.tokens; j < at.pad; ++j) row[j] = 0.0F;
  float sum = 0.0F;
  for (Index j = 0; j < at.pad; ++j) sum += row[j];
  const float share = 1.0F / sum;
  for (Index j = 0; j < at.pad; ++j) row[j] *= share;
}

float dot(const float* one, const float* other, Index count) {
  float sum = 0.0F;
  for (Index j = 0; j < count; ++j) sum += one[j] * other[j];
  return sum;
}

void add_scaled(float* to, const float* from, float factor, Index count) {
  for (Index j = 0; j < count; ++j) to[j] += factor * from[j];
}

void forward(const AttentionShape& shape, Index head, const AttentionForward& arrays, float* scratch) {
  const Head at{shape, head};
  const Index block = shape.side * at.pad;
  float *slice = scratch, *q = slice + block, *k = q + block, *v = k + block;
  const float scale = reciprocal_root(shape.side);
  for (Index sample = 0; sample < shape.batch; ++sample) {
    transpose_slice(at, sample, arrays.x, slice);
    apply_maps(at, slice, arrays.weight, arrays.bias, q, k, v);
    for (Index i = 0; i < shape.tokens; ++i) {
      float* row = arrays.attention + at.row(sample, i);
      scores(at, q, k, i, scale, row);
      softmax(at, row);
      for (Index c = 0; c < shape.side; ++c)
        arrays.out[at.token(sample, i) + c] = dot(row, v + c * at.pad, at.pad);
    }
  }
}

// Gradients of the maps' outputs of one sample, transposed like the maps; the three must start at zero.
struct MapGradients {
  float *q, *k, *v;
};

// One row of the attention: from the gradient of token i's output to those of q, k and v.
void row_backward(const Head& at, const float* q, const float* k, const float* v, const float* row,
                  const float* out_gradient, Index i, float scale, float* row_gradient,
                  const MapGradients& gradients) {
  for (Index j = 0; j < at.pad; ++j) row_gradient[j] = 0.0F;
  for (Index c = 0; c < at.shape.side; ++c) {
    add_scaled(row_gradient, v + c * at.pad, out_gradient[c], at.pad);
    add_scaled(gradients.v + c * at.pad, row, out_gradient[c], at.pad);
  }
  const float mean = dot(row, row_gradient, at.pad);
  for (Index j = 0; j < at.pad; ++j) row_gradient[j] = row[j] * (row_gradient[j] - mean) * scale;
  for (Index c = 0; c < at.shape.side; ++c) {
    gradients.q[c * at.pad + i] = dot(row_gradient, k + c * at.pad, at.pad);
    add_scaled(gradients.k + c * at.pad, row_gradient, q[c * at.pad + i], at.pad);
  }
}

// One map: gradients of its weight and bias, and of the slice it read.
void map_backward(const Head& at, Index map, const float* slice, const float* gradient,
                  const AttentionBackward& arrays, float* slice_gradient) {
  for (Index o = 0; o < at.shape.side; ++o) {
    const float* row = gradient + o * at.pad;
    float sum = 0.0F;
    for (Index t = 0; t < at.shape.tokens; ++t) sum += row[t];
    arrays.bias_gradient[at.bias(map) + o] += sum;
    for (Index c = 0; c < at.shape.side; ++c) {
      const Index place = at.weight(map) + o * at.shape.side + c;
      arrays.weight_gradient[place] += dot(row, slice + c * at.pad, at.pad);
      add_scaled(slice_gradient + c * at.pad, row, arrays.weight[place], at.pad);
    }
  }
}

void backward(const AttentionShape& shape, Index head, const AttentionBackward& arrays, float* scratch) {
  const Head at{shape, head};
  const Index block = shape.side * at.pad;
  float *slice = scratch, *q = slice + block, *k = q + block, *v = k + block;
  const MapGradients gradients{v + block, v + 2 * block, v + 3 * block};
  float *slice_gradient = v + 4 * block, *row_gradient = slice_gradient + block;
  const float scale = reciprocal_root(shape.side);
  for (Index sample = 0; sample < shape.batch; ++sample) {
    transpose_slice(at, sample, arrays.x, slice);
    apply_maps(at, slice, arrays.weight, arrays.bias, q, k, v);
    for (Index e = 0; e < 4 * block; ++e) gradients.q[e] = 0.0F;
    for (Index i = 0; i < shape.tokens; ++i) {
      row_backward(at, q, k, v, arrays.attention + at.row(sample, i),
                   arrays.out_gradient + at.token(sample, i), i, scale, row_gradient, gradients);
    }
    map_backward(at, 0, slice, gradients.q, arrays, slice_gradient);
    map_backward(at, 1, slice, gradients.k, arrays, slice_gradient);
    map_backward(at, 2, slice, gradients.v, arrays, slice_gradient);
    for (Index t = 0; t < shape.tokens; ++t) {
      for (Index c = 0; c < shape.side; ++c)
        arrays.x_gradient[at.token(sample, t) + c] = slice_gradient[c * at.pad + t];
    }
  }
}

}  // namespace

namespace LOCKSTEP_ISA {
extern const AttentionKernels kAttention;
const AttentionKernels kAttention = {&forward, &backward};
}  // namespace LOCKSTEP_ISA

}  // namespace lockstep::models::kernels
