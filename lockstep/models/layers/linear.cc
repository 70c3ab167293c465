// The linear layer with its activation: own kernels for few rows (see kernels/skinny.h), the library's matrix
// product otherwise, and gradients written straight into their slots.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "lockstep/models/cost.h"
#include "lockstep/models/kernels/rowwise.h"
#include "lockstep/models/kernels/skinny.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/models/layers/layers.h"

namespace lockstep::models {
namespace {

using kernels::skinny_kernels;
using kernels::SkinnyShape;

// Smaller weights stay in the cache, where a general product is as good.
constexpr std::int64_t kSkinnyWeights = 64 * 1024;
// Elements of the weight that are worth a thread.
constexpr std::int64_t kThreadWeights = 256 * 1024;

SkinnyShape shape_of(const at::Tensor& x, const at::Tensor& weight) {
  return {x.size(0), weight.size(1), weight.size(0)};
}

bool is_skinny(const at::Tensor& x, const at::Tensor& weight) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat &&
         x.size(0) <= kernels::kSkinnyRows && weight.numel() >= kSkinnyWeights && weight.is_contiguous();
}

std::int64_t vectors_of(const SkinnyShape& shape) {
  return kernels::skinny_vectors(shape, skinny_kernels().lanes);
}

at::Tensor make_panel(const SkinnyShape& shape, const at::Tensor& like) {
  return at::empty({vectors_of(shape), shape.rows, skinny_kernels().lanes}, like.options());
}

at::Tensor pack(const SkinnyShape& shape, const at::Tensor& x) {
  at::Tensor panel = make_panel(shape, x);
  skinny_kernels().pack(shape, x.data_ptr<float>(), panel.data_ptr<float>());
  return panel;
}

at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!is_skinny(x, weight)) return at::addmm(bias, x, weight.t());
  const SkinnyShape shape = shape_of(x, weight);
  const at::Tensor panel = pack(shape, x);
  at::Tensor y = bias.expand({shape.rows, shape.out}).contiguous();
  at::parallel_for(0, shape.out, kThreadWeights / shape.in + 1, [&](std::int64_t begin, std::int64_t end) {
    skinny_kernels().forward(shape, panel.data_ptr<float>(), weight.data_ptr<float>(), y.data_ptr<float>(),
                             begin, end);
  });
  return y;
}

// gradient [rows, out], turned [out, rows]
at::Tensor input_gradient(const at::Tensor& gradient, const at::Tensor& turned, const at::Tensor& weight) {
  if (!turned.defined()) return at::mm(gradient, weight);
  const SkinnyShape shape = shape_of(gradient, weight);
  at::Tensor panel = make_panel(shape, gradient),
             result = at::empty({shape.rows, shape.in}, gradient.options());
  at::parallel_for(0, vectors_of(shape), kThreadWeights / (shape.out * skinny_kernels().lanes) + 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     skinny_kernels().input_gradient(shape, turned.data_ptr<float>(),
                                                     weight.data_ptr<float>(), panel.data_ptr<float>(), begin,
                                                     end);
                   });
  skinny_kernels().unpack(shape, panel.data_ptr<float>(), result.data_ptr<float>());
  return result;
}

void general_weight_gradient(const at::Tensor& gradient, const at::Tensor& x, at::Tensor target,
                             bool accumulate) {
  if (accumulate) {
    target.addmm_(gradient.t(), x);
  } else {
    at::mm_out(target, gradient.t(), x);
  }
}

void weight_gradient(const at::Tensor& gradient, const at::Tensor& turned, const at::Tensor& x,
                     const at::Tensor& target, bool accumulate) {
  if (!turned.defined() || !target.is_contiguous()) {
    return general_weight_gradient(gradient, x, target, accumulate);
  }
  const SkinnyShape shape = shape_of(x, target);
  const at::Tensor panel = pack(shape, x);
  at::parallel_for(0, shape.out, kThreadWeights / shape.in + 1, [&](std::int64_t begin, std::int64_t end) {
    skinny_kernels().weight_gradient(shape, turned.data_ptr<float>(), panel.data_ptr<float>(),
                                     target.data_ptr<float>(), accumulate, begin, end);
  });
}

void bias_gradient(const at::Tensor& gradient, at::Tensor target, bool accumulate) {
  if (accumulate) {
    target.add_(gradient.sum(0));
  } else {
    at::sum_out(target, gradient, {0});
  }
}

// GELU's kernel leaves the derivative behind instead of the input: backward is one multiplication then.
bool has_slope(const at::Tensor& kept) {
  return kept.is_cpu() && kept.scalar_type() == at::kFloat;
}

// The activation of a fresh product (in place where it can be), and what backward needs of it.
std::pair<at::Tensor, at::Tensor> activate(Activation then, at::Tensor value) {
  if (then == Activation::none) return {value, at::Tensor()};
  if (then == Activation::relu) return {value.relu_(), value};
  if (!has_slope(value)) return {at::gelu(value), value};
  at::Tensor slope = at::empty_like(value);
  kernels::rowwise_kernels().gelu(value.data_ptr<float>(), value.numel(), value.data_ptr<float>(),
                                  slope.data_ptr<float>());
  return {value, slope};
}

struct LinearNode : Node {
  DirectParameter weight, bias;
  Activation then = Activation::none;
  at::Tensor x;     // [rows, in]
  at::Tensor kept;  // [rows, out]: ReLU's output, GELU's input or slope (see activate)
  std::vector<std::int64_t> input_sizes;

  at::Tensor before_activation(const at::Tensor& gradient) const {
    const at::Tensor flat = gradient.reshape({x.size(0), weight.value.size(0)}).contiguous();
    if (then == Activation::relu) return at::threshold_backward(flat, kept, 0);
    if (then == Activation::gelu) return has_slope(kept) ? flat.mul(kept) : at::gelu_backward(flat, kept);
    return flat;
  }

  // The gradients of the parameters come first: they may go on their way while the input's is computed.
  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return variable_list(3);
    const at::Tensor gradient = before_activation(gradients[0]);
    const at::Tensor turned = is_skinny(x, weight.value) ? gradient.t().contiguous() : at::Tensor();
    variable_list results(3);
    if (should_compute_output(2))
      results[2] = bias.deliver([&](at::Tensor to, bool more) { bias_gradient(gradient, to, more); });
    if (should_compute_output(1))
      results[1] = weight.deliver(
          [&](const at::Tensor& to, bool more) { weight_gradient(gradient, turned, x, to, more); });
    if (should_compute_output(0))
      results[0] = input_gradient(gradient, turned, weight.value).view(input_sizes);
    return results;
  }

  void release_variables() override { x.reset(), kept.reset(); }
};

std::vector<std::int64_t> output_sizes(const at::Tensor& input, std::int64_t out) {
  std::vector<std::int64_t> sizes = input.sizes().vec();
  sizes.back() = out;
  return sizes;
}

}  // namespace

Linear::Linear(const LayerOptions& options, const LinearSpec& spec) : spec_(spec) {
  weight_ = add_parameter("weight", make_tensor(options, {spec.out, spec.in}),
                          weight_init(spec.weight_init, spec.in, spec.out));
  bias_ = add_parameter("bias", make_tensor(options, {spec.out}), bias_init(spec.bias_init, spec.in));
}

at::Tensor Linear::forward(Runner&, const at::Tensor& input) {
  const bool needs = needs_backward(input, weight_, bias_);
  at::Tensor x, kept, y;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    x = input.reshape({-1, spec_.in}).contiguous();
    std::tie(y, kept) = activate(spec_.then, product(x, weight_, bias_));
    y = y.view(output_sizes(input, spec_.out));
  }
  if (!needs) return y;
  auto node = make_node<LinearNode>();
  node->weight = DirectParameter::of(own_parameters()[0]);
  node->bias = DirectParameter::of(own_parameters()[1]);
  node->then = spec_.then;
  node->x = x;
  node->kept = kept;
  node->input_sizes = input.sizes().vec();
  return with_history(node, y, input, weight_, bias_);
}

at::Tensor Linear::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  const bool trains = weight_.requires_grad();
  at::Tensor out = costs.output(output_sizes(input, spec_.out), input, trains);
  costs.matrix_work(2 * out.numel() * spec_.in, input, trains);
  if (trains) costs.keep(input);
  return trace_activation(spec_.then, out, costs);
}

}  // namespace lockstep::models
