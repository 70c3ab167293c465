// The attention layer that the standard factory hands out: the fused kernel for f32 on the CPU, the batched
// products of its base class for everything else.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "lockstep/models/cost.h"
#include "lockstep/models/kernels/attention.h"
#include "lockstep/models/layers/fused_attention.h"

namespace lockstep::models {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

kernels::AttentionShape shape_of(const at::Tensor& x, const at::Tensor& weight) {
  return {x.size(0), x.size(1), weight.size(1), weight.size(2)};
}

template <class Work>
void for_each_head(const kernels::AttentionShape& shape, const at::TensorOptions& options, const Work& work) {
  at::parallel_for(0, shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    const at::Tensor scratch = at::empty({kernels::attention_scratch(shape)}, options);
    for (std::int64_t head = begin; head < end; ++head) work(head, scratch.data_ptr<float>());
  });
}

struct FusedAttentionFunction : torch::autograd::Function<FusedAttentionFunction> {
  // x [batch, tokens, width], weight [3, heads, side, side], bias [3, heads, side], all contiguous
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& bias) {
    const auto shape = shape_of(x, weight);
    at::Tensor out = at::empty_like(x);
    at::Tensor attention = at::empty(
        {shape.heads, shape.batch, shape.tokens, kernels::padded_tokens(shape.tokens)}, x.options());
    const kernels::AttentionForward arrays{x.data_ptr<float>(), weight.data_ptr<float>(),
                                           bias.data_ptr<float>(), attention.data_ptr<float>(),
                                           out.data_ptr<float>()};
    for_each_head(shape, x.options(), [&](std::int64_t head, float* scratch) {
      kernels::attention_kernels().forward(shape, head, arrays, scratch);
    });
    context->save_for_backward({x, weight, bias, attention});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], &attention = saved[3];
    const auto shape = shape_of(x, weight);
    const at::Tensor out_gradient = gradients[0].contiguous();
    at::Tensor x_gradient = at::empty_like(x), weight_gradient = at::zeros_like(weight),
               bias_gradient = at::zeros_like(bias);
    const kernels::AttentionBackward arrays{x.data_ptr<float>(),
                                            weight.data_ptr<float>(),
                                            bias.data_ptr<float>(),
                                            attention.data_ptr<float>(),
                                            out_gradient.data_ptr<float>(),
                                            x_gradient.data_ptr<float>(),
                                            weight_gradient.data_ptr<float>(),
                                            bias_gradient.data_ptr<float>()};
    for_each_head(shape, x.options().requires_grad(false), [&](std::int64_t head, float* scratch) {
      kernels::attention_kernels().backward(shape, head, arrays, scratch);
    });
    return {x_gradient, weight_gradient, bias_gradient};
  }
};

}  // namespace

bool FusedHeadAttention::is_fused(const at::Tensor& input) const {
  return input.device().is_cpu() && input.scalar_type() == at::kFloat;
}

at::Tensor FusedHeadAttention::forward(Runner& runner, const at::Tensor& input) {
  if (!is_fused(input)) return HeadAttention::forward(runner, input);
  const std::int64_t side = spec_.width / spec_.heads;
  return FusedAttentionFunction::apply(input.contiguous(),
                                       at::stack(weights_).view({3, spec_.heads, side, side}),
                                       at::stack(biases_).view({3, spec_.heads, side}));
}

// The kernel keeps its input and the attention (its rows padded), and maps again in backward.
at::Tensor FusedHeadAttention::trace(Runner& runner, const at::Tensor& input, CostAccount& costs) {
  if (input.scalar_type() != at::kFloat) return HeadAttention::trace(runner, input, costs);
  const bool trains = weights_.front().requires_grad();
  const std::int64_t batch = input.size(0), tokens = input.size(1), side = spec_.width / spec_.heads;
  at::Tensor out = costs.output(input.sizes(), input, trains);
  costs.matrix_work(3 * 2 * batch * tokens * spec_.width * side, input, trains);
  costs.matrix_work(2 * 2 * batch * tokens * tokens * spec_.width, out, out.requires_grad());
  if (!out.requires_grad()) return out;
  costs.keep(input);
  costs.keep_bytes(batch * spec_.heads * tokens * kernels::padded_tokens(tokens) *
                   static_cast<std::int64_t>(sizeof(float)));
  return out;
}

}  // namespace lockstep::models
