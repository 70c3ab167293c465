// Self-attention of separate heads in f32 on the CPU, fused: maps, scores, softmax and mixture of one head
// and one sample in a few vector registers and a scratch area that stays in the first cache.
//
// The body is compiled once per instruction set and chosen at run time; it uses nothing of the standard
// library, so that no inline function compiled for a newer processor can end up in code for an older one.
#pragma once

#include <cstdint>

namespace lockstep::models::kernels {

struct AttentionShape {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t side;  // the width of one head
};

// Rows of the attention are padded to whole vectors; the padding holds zeros.
constexpr std::int64_t kAttentionPad = 16;
constexpr std::int64_t padded_tokens(std::int64_t tokens) {
  return (tokens + kAttentionPad - 1) / kAttentionPad * kAttentionPad;
}
// Floats of scratch for one head.
constexpr std::int64_t attention_scratch(const AttentionShape& shape) {
  return (8 * shape.side + 2) * padded_tokens(shape.tokens);
}

struct AttentionForward {
  const float* x;       // [batch, tokens, heads * side]
  const float* weight;  // [3, heads, side, side]: q, k, v
  const float* bias;    // [3, heads, side]
  float* attention;     // [heads, batch, tokens, padded tokens]
  float* out;           // [batch, tokens, heads * side]
};

struct AttentionBackward {
  const float* x;
  const float* weight;
  const float* bias;
  const float* attention;
  const float* out_gradient;
  float* x_gradient;       // written
  float* weight_gradient;  // added to
  float* bias_gradient;    // added to
};

// Both work on one head of all samples: heads are independent, so threads may share them out without changing
// a bit.
struct AttentionKernels {
  void (*forward)(const AttentionShape& shape, std::int64_t head, const AttentionForward& arrays,
                  float* scratch);
  void (*backward)(const AttentionShape& shape, std::int64_t head, const AttentionBackward& arrays,
                   float* scratch);
};

// The best ones for this processor.
const AttentionKernels& attention_kernels();

}  // namespace lockstep::models::kernels
