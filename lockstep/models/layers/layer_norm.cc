// Layer norm: an own kernel in f32 on the CPU, the library's otherwise; gradients go straight into their
// slots.
#include <ATen/ATen.h>

#include "lockstep/models/cost.h"
#include "lockstep/models/kernels/rowwise.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/models/layers/layers.h"

namespace lockstep::models {
namespace {

struct Normalised {
  at::Tensor y, mean, scale;
};

bool has_kernel(const at::Tensor& x, const at::Tensor& weight) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat;
}

Normalised normalise(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  const std::int64_t width = weight.size(0), rows = x.numel() / width;
  if (!has_kernel(x, weight)) {
    auto [y, mean, scale] = at::native_layer_norm(x, {width}, weight, bias, epsilon);
    return {y, mean, scale};
  }
  Normalised out{at::empty_like(x), at::empty({rows}, x.options()), at::empty({rows}, x.options())};
  kernels::rowwise_kernels().norm_forward({rows, width, static_cast<float>(epsilon), x.data_ptr<float>(),
                                           weight.data_ptr<float>(), bias.data_ptr<float>(),
                                           out.y.data_ptr<float>(), out.mean.data_ptr<float>(),
                                           out.scale.data_ptr<float>()});
  return out;
}

struct NormGradients {
  at::Tensor x, weight, bias;
};

void hand_over(const at::Tensor& gradient, at::Tensor target, bool accumulate) {
  accumulate ? target.add_(gradient) : target.copy_(gradient);
}

struct LayerNormNode : Node {
  DirectParameter weight, bias;
  at::Tensor x, mean, scale;

  NormGradients by_kernel(const at::Tensor& gradient) const {
    const std::int64_t width = weight.value.size(0);
    const at::Tensor sums = at::zeros({2, width}, x.options());
    NormGradients out{at::empty_like(x), sums[0], sums[1]};
    kernels::rowwise_kernels().norm_backward(
        {x.numel() / width, width, x.data_ptr<float>(), weight.value.data_ptr<float>(),
         mean.data_ptr<float>(), scale.data_ptr<float>(), gradient.data_ptr<float>(), out.x.data_ptr<float>(),
         sums.data_ptr<float>(), sums.data_ptr<float>() + width});
    return out;
  }

  NormGradients by_library(const at::Tensor& gradient) const {
    auto [x_gradient, weight_gradient, bias_gradient] = at::native_layer_norm_backward(
        gradient, x, {weight.value.size(0)}, mean, scale, weight.value, bias.value, {true, true, true});
    return {x_gradient, weight_gradient, bias_gradient};
  }

  variable_list apply(variable_list&& gradients) override {
    variable_list results(3);
    if (!gradients[0].defined()) return results;
    const at::Tensor gradient = gradients[0].contiguous();
    const NormGradients all = has_kernel(x, weight.value) ? by_kernel(gradient) : by_library(gradient);
    const auto deliver = [](const DirectParameter& parameter, const at::Tensor& from) {
      return parameter.deliver([&](const at::Tensor& to, bool more) { hand_over(from, to, more); });
    };
    if (should_compute_output(2)) results[2] = deliver(bias, all.bias);
    if (should_compute_output(1)) results[1] = deliver(weight, all.weight);
    results[0] = all.x;
    return results;
  }

  void release_variables() override { x.reset(), mean.reset(), scale.reset(); }
};

}  // namespace

LayerNorm::LayerNorm(const LayerOptions& options, const LayerNormSpec& spec) : spec_(spec) {
  weight_ = add_parameter("weight", make_tensor(options, {spec.width}), Init::constant(1.0));
  bias_ = add_parameter("bias", make_tensor(options, {spec.width}), Init::constant(0.0));
}

at::Tensor LayerNorm::forward(Runner&, const at::Tensor& input) {
  const bool needs = needs_backward(input, weight_, bias_);
  at::Tensor x;
  Normalised out;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    x = input.contiguous();
    out = normalise(x, weight_, bias_, spec_.epsilon);
  }
  if (!needs) return out.y;
  auto node = make_node<LayerNormNode>();
  node->weight = DirectParameter::of(own_parameters()[0]);
  node->bias = DirectParameter::of(own_parameters()[1]);
  node->x = x, node->mean = out.mean, node->scale = out.scale;
  return with_history(node, out.y, input, weight_, bias_);
}

at::Tensor LayerNorm::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  at::Tensor out = costs.output(input.sizes(), input, weight_.requires_grad());
  costs.element_work(out, 5);
  if (out.requires_grad()) {
    costs.keep(input);
    costs.keep_bytes(2 * input.numel() / spec_.width * static_cast<std::int64_t>(input.element_size()));
  }
  return out;
}

}  // namespace lockstep::models
