// Pools and dropout: layers without parameters.
#include <ATen/ATen.h>

#include <span>

#include "lockstep/models/cost.h"
#include "lockstep/models/layers/layers.h"
#include "lockstep/models/layers/shapes.h"
#include "lockstep/models/philox.h"
#include "lockstep/models/runner.h"

namespace lockstep::models {

at::Tensor MaxPool2d::forward(Runner&, const at::Tensor& input) {
  return at::max_pool2d(input, {spec_.kernel, spec_.kernel}, {spec_.stride, spec_.stride},
                        {spec_.padding, spec_.padding}, {1, 1}, spec_.ceil_mode);
}

at::Tensor MaxPool2d::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  at::Tensor out = costs.output(window_output(input.sizes(), input.size(1), spec_, path()), input);
  costs.element_work(out, spec_.kernel * spec_.kernel);
  if (out.requires_grad()) {
    costs.keep(input);
    costs.keep_bytes(out.numel() *
                     static_cast<std::int64_t>(sizeof(std::int64_t)));  // where each maximum was
  }
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

// A pool that changes nothing (vgg16 at 224 pixels) or that is a plain mean is spared the general kernel.
at::Tensor AdaptiveAvgPool2d::forward(Runner&, const at::Tensor& input) {
  if (input.size(2) == out_side_ && input.size(3) == out_side_) return input;
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
