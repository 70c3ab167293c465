#include "lockstep/train/cuda/layers/biased_conv.h"

#include "lockstep/device/cuda/kernels/bias.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/parallel/cuda/torch_stream.h"

namespace lockstep::train {
namespace {

using models::DirectParameter;
using models::variable_list;

struct BiasNode : models::Node {
  DirectParameter bias;
  at::Tensor output;  // undefined: there was no ReLU
  std::shared_ptr<SumMemory> sums;

  variable_list apply(variable_list&& gradients) override {
    variable_list results(2);
    if (!gradients[0].defined()) return results;
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    const at::Tensor slope = in_rows(gradients[0]);
    results[0] = output.defined() ? at::empty_like(slope) : slope;
    results[1] = bias.deliver([&](const at::Tensor& to, bool more) { run(slope, results[0], to, more); });
    return results;
  }

  void run(const at::Tensor& slope, const at::Tensor& map_gradient, const at::Tensor& to, bool more) const {
    device::cuda::BiasBackward task;
    task.shape = row_shape(slope);
    task.output = output.defined() ? output.data_ptr() : nullptr;
    task.output_gradient = slope.data_ptr();
    task.map_gradient = map_gradient.data_ptr();
    task.bias_gradient = to.data_ptr();
    task.accumulate = more;
    at::Tensor partials;
    device::cuda::bias_backward(task, sums->take(task.shape, partials), parallel::torch_stream());
  }

  void release_variables() override { output.reset(); }
};

void add_in_place(const at::Tensor& map, const at::Tensor& bias, bool relu) {
  device::cuda::bias_forward({row_shape(map), map.data_ptr(), bias.data_ptr(), relu},
                             parallel::torch_stream());
}

}  // namespace

BiasedConv2d::BiasedConv2d(const models::LayerOptions& options, const models::Conv2dSpec& spec)
    : Conv2d(options, spec), sums_(std::make_shared<SumMemory>(options.device, spec.out)) {}

// The convolution's backward does not need its output, so the bias may be added where it lies.
at::Tensor BiasedConv2d::forward(models::Runner&, const at::Tensor& input) {
  const bool relu = spec_.then == models::Activation::relu;
  const at::Tensor map =
      at::conv2d(input, weight_, {}, {spec_.stride, spec_.stride}, {spec_.padding, spec_.padding});
  at::Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    out = in_rows(map).detach();
    add_in_place(out, bias_, relu);
  }
  if (!models::needs_backward(map, bias_)) return out;
  auto node = models::make_node<BiasNode>();
  node->bias = DirectParameter::of(own_parameters()[1]);
  if (relu) node->output = out.detach();
  node->sums = sums_;
  return models::with_history(node, out, map, bias_);
}

}  // namespace lockstep::train
