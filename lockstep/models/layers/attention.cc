// Self-attention with separate heads, all of them computed in one batch of small matrix products.
#include <ATen/ATen.h>

#include <cmath>

#include "lockstep/models/cost.h"
#include "lockstep/models/layers/layers.h"

namespace lockstep::models {

HeadAttention::HeadAttention(const LayerOptions& options, const HeadAttentionSpec& spec) : spec_(spec) {
  for (const char* map : {"q", "k", "v"}) add_map(options, map);
}

void HeadAttention::add_map(const LayerOptions& options, const std::string& map) {
  const std::int64_t side = spec_.width / spec_.heads;
  for (std::int64_t head = 0; head < spec_.heads; ++head) {
    const std::string prefix = map + "." + std::to_string(head);
    weights_.push_back(add_parameter(prefix + ".weight", make_tensor(options, {side, side}),
                                     weight_init(WeightInit::torch_default, side, side)));
    biases_.push_back(add_parameter(prefix + ".bias", make_tensor(options, {side}),
                                    bias_init(BiasInit::torch_default, side)));
  }
}

at::Tensor HeadAttention::forward(Runner&, const at::Tensor& input) {
  const std::int64_t batch = input.size(0), tokens = input.size(1), heads = spec_.heads;
  const std::int64_t side = spec_.width / heads;
  const at::Tensor slices =
      input.reshape({batch * tokens, heads, side}).transpose(0, 1);  // [heads, batch*tokens, side]
  const at::Tensor weight = at::stack(weights_).view({3, heads, side, side});
  const at::Tensor bias = at::stack(biases_).view({3, heads, 1, side});
  const auto map = [&](std::int64_t which) {  // [heads*batch, tokens, side]
    return at::baddbmm(bias[which], slices, weight[which].transpose(1, 2))
        .view({heads * batch, tokens, side});
  };
  const at::Tensor scores =
      at::bmm(map(0), map(1).transpose(1, 2)).mul_(1.0 / std::sqrt(static_cast<double>(side)));
  const at::Tensor mixed = at::bmm(at::softmax(scores, -1), map(2));  // [heads*batch, tokens, side]
  return mixed.view({heads, batch, tokens, side}).permute({1, 2, 0, 3}).reshape({batch, tokens, spec_.width});
}

at::Tensor HeadAttention::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  const bool trains = weights_.front().requires_grad();
  const std::int64_t batch = input.size(0), tokens = input.size(1), side = spec_.width / spec_.heads;
  at::Tensor out = costs.output(input.sizes(), input, trains);
  costs.matrix_work(3 * 2 * batch * tokens * spec_.width * side, input, trains);
  costs.matrix_work(2 * 2 * batch * tokens * tokens * spec_.width, out, out.requires_grad());
  if (!out.requires_grad()) return out;
  costs.keep(input);
  const auto element = static_cast<std::int64_t>(input.element_size());
  costs.keep_bytes(3 * batch * tokens * spec_.width * element);       // q, k, v
  costs.keep_bytes(batch * spec_.heads * tokens * tokens * element);  // the attention
  return out;
}

}  // namespace lockstep::models
