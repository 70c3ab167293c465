#include "lockstep/train/cuda/layers/joined_norm.h"

#include "lockstep/device/cuda/kernels/norm.h"
#include "lockstep/models/layers/direct.h"
#include "lockstep/models/runner.h"
#include "lockstep/parallel/cuda/torch_stream.h"

namespace lockstep::train {
namespace {

using device::cuda::NormFigures;
using models::Activation;
using models::DirectParameter;
using models::variable_list;

void* data_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr() : nullptr;
}

// [2, channels]: means, then the inverse deviations.
NormFigures figures_in(const at::Tensor& figures) {
  return {figures.data_ptr<float>(), figures.data_ptr<float>() + figures.size(1)};
}

struct NormNode : models::Node {
  DirectParameter weight, bias;
  at::Tensor input, output, figures;  // output: of a ReLU, else undefined
  bool joins = false;
  std::shared_ptr<SumMemory> sums;

  // The gradients of input, shortcut, weight and bias.
  variable_list apply(variable_list&& gradients) override {
    variable_list results(4);
    if (!gradients[0].defined()) return results;
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    const at::Tensor slope = in_rows(gradients[0]);
    results[0] = at::empty_like(input);
    if (joins) results[1] = at::empty_like(input);
    results[2] = weight.deliver([&](const at::Tensor& of_weight, bool more) {
      results[3] = bias.deliver(
          [&](const at::Tensor& of_bias, bool) { run(slope, results, of_weight, of_bias, more); });
    });
    return results;
  }

  void run(const at::Tensor& slope, const variable_list& results, const at::Tensor& of_weight,
           const at::Tensor& of_bias, bool accumulate) const {
    device::cuda::NormBackward task;
    task.shape = row_shape(input);
    task.input = input.data_ptr();
    task.output = data_of(output);
    task.output_gradient = slope.data_ptr();
    task.weight = weight.value.data_ptr();
    task.figures = figures_in(figures);
    task.weight_gradient = of_weight.data_ptr();
    task.bias_gradient = of_bias.data_ptr();
    task.accumulate = accumulate;
    const at::Tensor factors = at::empty({3, task.shape.channels}, figures.options());
    task.factors = factors.data_ptr<float>();
    task.shortcut_gradient = data_of(results[1]);
    task.input_gradient = results[0].data_ptr();
    at::Tensor partials;
    device::cuda::norm_backward(task, sums->take(task.shape, partials), parallel::torch_stream());
  }

  void release_variables() override { input.reset(), output.reset(), figures.reset(); }
};

at::Tensor run_forward(const at::Tensor& input, const at::Tensor& shortcut, const at::Tensor& weight,
                       const at::Tensor& bias, const at::Tensor& figures, bool relu) {
  at::Tensor output = at::empty_like(input);
  device::cuda::norm_forward({row_shape(input), input.data_ptr(), data_of(shortcut), output.data_ptr(),
                              weight.data_ptr(), bias.data_ptr(), figures_in(figures), relu},
                             parallel::torch_stream());
  return output;
}

}  // namespace

JoinedNorm2d::JoinedNorm2d(const models::LayerOptions& options, const models::BatchNorm2dSpec& spec)
    : BatchNorm2d(options, spec, at::kFloat),
      sums_(std::make_shared<SumMemory>(options.device, spec.channels)) {}

at::Tensor JoinedNorm2d::forward(models::Runner& runner, const at::Tensor& input) {
  return uses_batch_statistics(runner) ? train(runner, input, {}) : with_running_statistics(input, {});
}

at::Tensor JoinedNorm2d::forward_join(models::Runner& runner, const at::Tensor& input,
                                      const at::Tensor& shortcut) {
  return uses_batch_statistics(runner) ? train(runner, input, shortcut)
                                       : with_running_statistics(input, shortcut);
}

void JoinedNorm2d::find_statistics(models::Runner& runner, const at::Tensor& input,
                                   const at::Tensor& figures) {
  const bool moves = updates_statistics(runner);
  if (moves) count_batch();
  device::cuda::NormStatistics task;
  task.shape = row_shape(input);
  task.input = input.data_ptr();
  task.figures = figures_in(figures);
  task.running_mean = moves ? running_mean_.data_ptr<float>() : nullptr;
  task.running_variance = moves ? running_var_.data_ptr<float>() : nullptr;
  task.momentum = static_cast<float>(spec_.momentum);
  task.epsilon = static_cast<float>(spec_.epsilon);
  at::Tensor partials;
  device::cuda::norm_statistics(task, sums_->take(task.shape, partials), parallel::torch_stream());
}

at::Tensor JoinedNorm2d::train(models::Runner& runner, const at::Tensor& input, const at::Tensor& shortcut) {
  const bool relu = spec_.then == Activation::relu;
  auto node = models::make_node<NormNode>();
  at::Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    node->input = in_rows(input).detach();
    node->figures = at::empty({2, input.size(1)}, running_mean_.options());
    find_statistics(runner, node->input, node->figures);
    out = run_forward(node->input, shortcut.defined() ? in_rows(shortcut) : shortcut, weight_, bias_,
                      node->figures, relu);
  }
  if (!models::needs_backward(input, weight_)) return out;
  node->weight = DirectParameter::of(own_parameters()[0]);
  node->bias = DirectParameter::of(own_parameters()[1]);
  if (relu) node->output = out.detach();
  node->joins = shortcut.defined();
  node->sums = sums_;
  return models::with_history(node, out, input, shortcut, weight_, bias_);
}

// With figures that stay, plain arithmetic: also what a frozen norm does in training.
at::Tensor JoinedNorm2d::with_running_statistics(const at::Tensor& input, const at::Tensor& shortcut) const {
  const at::Tensor scale = weight_.to(at::kFloat) * (running_var_ + spec_.epsilon).rsqrt();
  const at::Tensor shift = bias_.to(at::kFloat) - running_mean_ * scale;
  if (!models::needs_backward(input)) {
    const at::AutoDispatchBelowADInplaceOrView without_autograd;
    const at::Tensor figures = at::stack({running_mean_, (running_var_ + spec_.epsilon).rsqrt()});
    return run_forward(in_rows(input), shortcut.defined() ? in_rows(shortcut) : shortcut, weight_, bias_,
                       figures, spec_.then == Activation::relu);
  }
  const auto of_channel = [](const at::Tensor& figures) { return figures.view({1, -1, 1, 1}); };
  at::Tensor value =
      input * of_channel(scale).to(input.scalar_type()) + of_channel(shift).to(input.scalar_type());
  if (shortcut.defined()) value = value + shortcut;
  return models::apply_activation(spec_.then, value);
}

}  // namespace lockstep::train
