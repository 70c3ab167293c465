// Pools and dropout: layers without parameters.
#include <ATen/ATen.h>

#include <span>

#include "lockstep/models/cost.h"
#include "lockstep/models/kernels/pool.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/models/layers/layers.h"
#include "lockstep/models/layers/shapes.h"
#include "lockstep/models/philox.h"
#include "lockstep/models/runner.h"

namespace lockstep::models {
namespace {

// Windows of 2x2 side by side have a kernel of their own (f32, on the CPU, planes one after the other).
bool has_kernel(const Pool2dSpec& spec) {
  return spec.kernel == 2 && spec.stride == 2 && spec.padding == 0 && !spec.ceil_mode;
}
bool has_kernel(const Pool2dSpec& spec, const at::Tensor& input) {
  return has_kernel(spec) && input.is_cpu() && input.scalar_type() == at::kFloat && input.dim() == 4 &&
         input.is_contiguous();
}

struct PoolNode : Node {
  std::vector<std::int64_t> sizes;  // of the input
  at::Tensor place;

  kernels::PoolShape shape() const { return {sizes[0] * sizes[1], sizes[2], sizes[3]}; }

  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return variable_list(1);
    const at::Tensor out_gradient = gradients[0].contiguous();
    at::Tensor in_gradient = at::empty(sizes, out_gradient.options());
    kernels::pool_kernels().backward(shape(), out_gradient.data_ptr<float>(), place.data_ptr<std::uint8_t>(),
                                     in_gradient.data_ptr<float>());
    return {in_gradient};
  }
  void release_variables() override { place.reset(); }
};

at::Tensor pool_by_kernel(const at::Tensor& input) {
  auto node = make_node<PoolNode>();
  node->sizes = input.sizes().vec();
  at::Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    out = at::empty({input.size(0), input.size(1), input.size(2) / 2, input.size(3) / 2}, input.options());
    node->place = at::empty(out.sizes(), input.options().dtype(at::kByte));
  }
  kernels::pool_kernels().forward(node->shape(), input.data_ptr<float>(), out.data_ptr<float>(),
                                  node->place.data_ptr<std::uint8_t>());
  return needs_backward(input) ? with_history(node, out, input) : out;
}

}  // namespace

at::Tensor MaxPool2d::forward(Runner&, const at::Tensor& input) {
  if (has_kernel(spec_, input)) return pool_by_kernel(input);
  return at::max_pool2d(input, {spec_.kernel, spec_.kernel}, {spec_.stride, spec_.stride},
                        {spec_.padding, spec_.padding}, {1, 1}, spec_.ceil_mode);
}

at::Tensor MaxPool2d::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  at::Tensor out = costs.output(window_output(input.sizes(), input.size(1), spec_, path()), input);
  costs.element_work(out, spec_.kernel * spec_.kernel);
  if (!out.requires_grad()) return out;
  const bool kernel = has_kernel(spec_) && input.scalar_type() == at::kFloat;
  if (!kernel) costs.keep(input);
  const std::size_t place_bytes = kernel ? sizeof(std::uint8_t) : sizeof(std::int64_t);
  costs.keep_bytes(out.numel() * static_cast<std::int64_t>(place_bytes));  // where each maximum was
  return out;
}

at::Tensor AvgPool2d::forward(Runner&, const at::Tensor& input) {
  return at::avg_pool2d(input, {spec_.kernel, spec_.kernel}, {spec_.stride, spec_.stride},
                        {spec_.padding, spec_.padding}, spec_.ceil_mode);
}

at::Tensor AvgPool2d::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  at::Tensor out = costs.output(window_output(input.sizes(), input.size(1), spec_, path()), input);
  costs.element_work(out, spec_.kernel * spec_.kernel);
  if (out.requires_grad()) costs.keep(input);
  return out;
}

// A pool that changes nothing (vgg16 at 224 pixels) or that is a plain mean is spared the general kernel. So
// is one of a single pixel (vgg16 at 32, alexnet at 64) on a GPU, where that kernel's gradient is added up in
// another order every time (as it still is for other sizes that do not divide evenly).
at::Tensor AdaptiveAvgPool2d::forward(Runner&, const at::Tensor& input) {
  if (input.size(2) == out_side_ && input.size(3) == out_side_) return input;
  if (input.is_cuda() && input.size(2) == 1 && input.size(3) == 1)
    return input.expand({-1, -1, out_side_, out_side_}).contiguous(input.suggest_memory_format());
  return at::adaptive_avg_pool2d(input, {out_side_, out_side_});
}

at::Tensor AdaptiveAvgPool2d::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  if (input.size(2) == out_side_ && input.size(3) == out_side_) return input;
  at::Tensor out = costs.output({input.size(0), input.size(1), out_side_, out_side_}, input);
  costs.element_work(input, 1);
  // A mean over everything needs only the input's shape in backward; a general pool keeps the input.
  if (out_side_ != 1 && out.requires_grad()) costs.keep(input);
  return out;
}

// One stream a sample: the row's mask is the same wherever and beside whomever the sample is trained.
at::Tensor Dropout::mask(const Runner& runner, const at::Tensor& input) const {
  at::Tensor values = at::empty(input.sizes(), at::TensorOptions().dtype(at::kFloat));
  const std::int64_t rows = input.size(0);
  const auto row_elements = static_cast<std::size_t>(rows > 0 ? input.numel() / rows : 0);
  const std::uint64_t layer = philox_mix(runner.key().step, philox_hash(path()));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto sample = static_cast<std::uint64_t>(runner.sample_of_row(row));
    float* out = values.data_ptr<float>() + static_cast<std::size_t>(row) * row_elements;
    philox_mask({runner.key().seed, philox_mix(layer, sample)}, probability_, std::span(out, row_elements));
  }
  return values.to(input.options().requires_grad(false));
}

at::Tensor Dropout::forward(Runner& runner, const at::Tensor& input) {
  if (!runner.training() || probability_ == 0.0) return input;
  return input.mul(mask(runner, input));
}

at::Tensor Dropout::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  at::Tensor out = costs.output(input.sizes(), input);
  costs.element_work(out, 1);
  if (out.requires_grad()) costs.keep(out.detach().new_empty(out.sizes()));  // the mask
  return out;
}

}  // namespace lockstep::models
