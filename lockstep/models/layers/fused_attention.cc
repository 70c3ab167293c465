// The attention layer that the standard factory hands out: the fused kernel for f32 on the CPU, the batched
// products of its base class for everything else.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "lockstep/models/cost.h"
#include "lockstep/models/kernels/attention.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/models/layers/fused_attention.h"

namespace lockstep::models {
namespace {

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

// The parameters of all heads side by side, as the kernels want them: [3, heads, side, side] and [3, heads,
// side].
at::Tensor side_by_side(const std::vector<at::Tensor>& parts, at::IntArrayRef sizes) {
  at::Tensor all = at::empty(sizes, parts.front().options().requires_grad(false));
  float* to = all.data_ptr<float>();
  for (const at::Tensor& part : parts) to = std::copy_n(part.data_ptr<float>(), part.numel(), to);
  return all;
}

void add_or_copy(const float* from, at::Tensor target, bool accumulate) {
  const at::Tensor gradient = at::from_blob(const_cast<float*>(from), target.sizes(), target.options());
  accumulate ? target.add_(gradient) : target.copy_(gradient);
}

struct AttentionNode : Node {
  std::vector<DirectParameter> parameters;  // in their order in the unit: weight and bias of each map
  at::Tensor x, weight, bias, attention;

  // The gradients of weight and bias, side by side; x's is written.
  std::pair<at::Tensor, at::Tensor> run(const at::Tensor& out_gradient, at::Tensor& x_gradient) const {
    const auto shape = shape_of(x, weight);
    at::Tensor weight_gradient = at::zeros_like(weight), bias_gradient = at::zeros_like(bias);
    const kernels::AttentionBackward arrays{x.data_ptr<float>(),
                                            weight.data_ptr<float>(),
                                            bias.data_ptr<float>(),
                                            attention.data_ptr<float>(),
                                            out_gradient.data_ptr<float>(),
                                            x_gradient.data_ptr<float>(),
                                            weight_gradient.data_ptr<float>(),
                                            bias_gradient.data_ptr<float>()};
    for_each_head(shape, x.options(), [&](std::int64_t head, float* scratch) {
      kernels::attention_kernels().backward(shape, head, arrays, scratch);
    });
    return {weight_gradient, bias_gradient};
  }

  variable_list apply(variable_list&& gradients) override {
    variable_list results(1 + parameters.size());
    if (!gradients[0].defined()) return results;
    results[0] = at::empty_like(x);
    const auto [weights, biases] = run(gradients[0].contiguous(), results[0]);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!should_compute_output(i + 1)) continue;
      const at::Tensor& all = i % 2 == 0 ? weights : biases;
      const auto part = static_cast<std::int64_t>(i / 2) * parameters[i].value.numel();
      results[i + 1] = parameters[i].deliver(
          [&](const at::Tensor& to, bool more) { add_or_copy(all.data_ptr<float>() + part, to, more); });
    }
    return results;
  }

  void release_variables() override { x.reset(), weight.reset(), bias.reset(), attention.reset(); }
};

at::Tensor run_forward(AttentionNode& node) {
  const auto shape = shape_of(node.x, node.weight);
  at::Tensor out = at::empty_like(node.x);
  node.attention = at::empty({shape.heads, shape.batch, shape.tokens, kernels::padded_tokens(shape.tokens)},
                             node.x.options());
  const kernels::AttentionForward arrays{node.x.data_ptr<float>(), node.weight.data_ptr<float>(),
                                         node.bias.data_ptr<float>(), node.attention.data_ptr<float>(),
                                         out.data_ptr<float>()};
  for_each_head(shape, node.x.options(), [&](std::int64_t head, float* scratch) {
    kernels::attention_kernels().forward(shape, head, arrays, scratch);
  });
  return out;
}

}  // namespace

bool FusedHeadAttention::is_fused(const at::Tensor& input) const {
  return input.device().is_cpu() && input.scalar_type() == at::kFloat;
}

at::Tensor FusedHeadAttention::forward(Runner& runner, const at::Tensor& input) {
  if (!is_fused(input)) return HeadAttention::forward(runner, input);
  const std::int64_t side = spec_.width / spec_.heads;
  auto node = make_node<AttentionNode>();
  at::Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    node->x = input.contiguous();
    node->weight = side_by_side(weights_, {3, spec_.heads, side, side});
    node->bias = side_by_side(biases_, {3, spec_.heads, side});
    out = run_forward(*node);
  }
  if (!needs_backward(input, weights_.front())) return out;
  for (const Parameter& parameter : own_parameters())
    node->parameters.push_back(DirectParameter::of(parameter));
  return with_history(node, out, input, own_parameters());
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
