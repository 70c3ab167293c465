// Batch norm.
#include <ATen/ATen.h>

#include "lockstep/models/cost.h"
#include "lockstep/models/layers/layers.h"
#include "lockstep/models/runner.h"

namespace lockstep::models {

BatchNorm2d::BatchNorm2d(const LayerOptions& options, const BatchNorm2dSpec& spec, at::ScalarType statistics)
    : spec_(spec) {
  const LayerOptions kept{statistics, options.device, false};
  weight_ = add_parameter("weight", make_tensor(options, {spec.channels}), Init::constant(1.0));
  bias_ = add_parameter("bias", make_tensor(options, {spec.channels}), Init::constant(0.0));
  running_mean_ = add_buffer("running_mean", make_tensor(kept, {spec.channels}), 0.0);
  running_var_ = add_buffer("running_var", make_tensor(kept, {spec.channels}), 1.0);
  batches_tracked_ = add_buffer("num_batches_tracked", make_tensor({at::kLong, options.device}, {}), 0.0);
}

bool BatchNorm2d::uses_batch_statistics(const Runner& runner) const {
  return runner.training() && !frozen();
}

bool BatchNorm2d::updates_statistics(const Runner& runner) const {
  return uses_batch_statistics(runner) && !runner.recomputing();
}

void BatchNorm2d::count_batch() {
  if (batches_tracked_.is_cpu()) {
    ++*batches_tracked_.data_ptr<std::int64_t>();
  } else {
    batches_tracked_.add_(1);
  }
}

at::Tensor BatchNorm2d::normalise(Runner& runner, const at::Tensor& input) {
  const bool batch_statistics = uses_batch_statistics(runner);
  const bool moves = updates_statistics(runner);
  if (moves) count_batch();
  const bool hands_running = moves || !batch_statistics;
  const at::Tensor none;
  return at::batch_norm(input, weight_, bias_, hands_running ? running_mean_ : none,
                        hands_running ? running_var_ : none, batch_statistics, spec_.momentum, spec_.epsilon,
                        true);
}

at::Tensor BatchNorm2d::forward(Runner& runner, const at::Tensor& input) {
  return apply_activation(spec_.then, normalise(runner, input));
}

at::Tensor BatchNorm2d::forward_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut) {
  return apply_activation(spec_.then, normalise(runner, input).add_(shortcut));
}

at::Tensor BatchNorm2d::trace(Runner&, const at::Tensor& input, CostAccount& costs) {
  const bool trains = weight_.requires_grad();
  at::Tensor out = costs.output(input.sizes(), input, trains);
  costs.element_work(out, 4);
  if (out.requires_grad()) costs.keep(input);
  if (trains) costs.keep_bytes(2 * spec_.channels * static_cast<std::int64_t>(input.element_size()));
  return trace_activation(spec_.then, out, costs);
}

at::Tensor BatchNorm2d::trace_join(Runner& runner, const at::Tensor& input, const at::Tensor& shortcut,
                                   CostAccount& costs) {
  const Activation then = std::exchange(spec_.then, Activation::none);
  at::Tensor out = BatchNorm2d::trace(runner, input, costs);
  spec_.then = then;
  if (shortcut.requires_grad()) out.set_requires_grad(true);
  costs.element_work(out, 1);
  return trace_activation(then, out, costs);
}

}  // namespace lockstep::models
