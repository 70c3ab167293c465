// Convolution and the activations after layers.
#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/models/cost.h"
#include "lockstep/models/layers/layers.h"
#include "lockstep/models/layers/shapes.h"

namespace lockstep::models {

at::Tensor make_tensor(const LayerOptions& options, at::IntArrayRef sizes) {
  return at::empty(sizes, at::TensorOptions().dtype(options.dtype).device(options.device));
}

at::Tensor apply_activation(Activation kind, at::Tensor value) {
  switch (kind) {
    case Activation::none:
      return value;
    case Activation::relu:
      return at::relu_(value);
    case Activation::gelu:
      return at::gelu(value);
  }
  return value;
}

at::Tensor trace_activation(Activation kind, at::Tensor value, CostAccount& costs) {
  if (kind == Activation::none) return value;
  costs.element_work(value, 1);
  if (value.requires_grad())
    costs.keep(value);  // ReLU keeps its output, which is the input's memory; GELU its input
  return kind == Activation::relu ? value : costs.output(value.sizes(), value);
}

namespace {

at::Tensor make_filters(const LayerOptions& options, at::IntArrayRef sizes) {
  const at::Tensor filters = make_tensor(options, sizes);
  return options.channels_last ? filters.contiguous(at::MemoryFormat::ChannelsLast) : filters;
}

}  // namespace

Conv2d::Conv2d(const LayerOptions& options, const Conv2dSpec& spec) : spec_(spec) {
  const std::int64_t area = spec.kernel * spec.kernel;
  const std::int64_t fan_in = spec.in * area;
  weight_ = add_parameter("weight", make_filters(options, {spec.out, spec.in, spec.kernel, spec.kernel}),
                          weight_init(spec.weight_init, fan_in, spec.out * area));
  if (spec.bias) {
    bias_ = add_parameter("bias", make_tensor(options, {spec.out}), bias_init(spec.bias_init, fan_in));
  }
}

at::Tensor Conv2d::forward(Runner&, const at::Tensor& input) {
  return apply_activation(spec_.then, at::conv2d(input, weight_, bias_, {spec_.stride, spec_.stride},
                                                 {spec_.padding, spec_.padding}));
}

at::Tensor Conv2d::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  const Pool2dSpec window{spec_.kernel, spec_.stride, spec_.padding, false};
  const bool trains = weight_.requires_grad();
  at::Tensor out = costs.output(window_output(input.sizes(), spec_.out, window, path()), input, trains);
  costs.matrix_work(2 * out.numel() * spec_.in * spec_.kernel * spec_.kernel, input, trains);
  if (trains) costs.keep(input);
  return trace_activation(spec_.then, out, costs);
}

at::Tensor ActivationLayer::forward(Runner&, const at::Tensor& input) {
  return apply_activation(kind_, input);
}

at::Tensor ActivationLayer::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  return trace_activation(kind_, input, costs);
}

}  // namespace lockstep::models
