#include "lockstep/parallel/pass.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/models/loss.h"

namespace lockstep::parallel {

PartResult run_pass(const Surroundings& surroundings, models::Runner& runner, const StepPart& part) {
  const measure::UseScope use(measure::Use::activations);
  at::Tensor output;
  at::Tensor loss;
  {
    const measure::SpanScope span(surroundings.timer, measure::Span::forward);
    output = runner.forward(surroundings.model.root(), part.inputs, part.key);
    loss = models::loss_of(surroundings.loss, output, part.targets, part.divisor);
  }
  const measure::SpanScope span(surroundings.timer, measure::Span::backward);
  const measure::BackwardScope lent;
  const base::TimePoint backward_began = base::now();
  runner.backward(loss);
  return {loss.detach(), output.detach(), backward_began};
}

PartResult empty_result(const StepPart& part) {
  return {at::zeros({}, part.inputs.options()), at::Tensor(), base::now()};
}

std::vector<models::NamedTensor> trained_parameters(const models::Model& model) {
  std::vector<models::NamedTensor> trained;
  for (const models::NamedTensor& parameter : model.parameters()) {
    if (parameter.tensor.requires_grad()) trained.push_back(parameter);
  }
  if (trained.empty())
    throw base::ConfigError(fmt::format("nothing of model {} is trained; see --trainable.", model.name()));
  for (const models::NamedTensor& parameter : trained) {
    if (parameter.tensor.scalar_type() == trained.front().tensor.scalar_type()) continue;
    throw base::ConfigError(fmt::format(
        "parameter {} is of type {}, and {} of type {}: gradients of one type are needed. Convert the model.",
        parameter.name, at::toString(parameter.tensor.scalar_type()), trained.front().name,
        at::toString(trained.front().tensor.scalar_type())));
  }
  return trained;
}

std::vector<std::shared_ptr<models::GradientSlot>> trained_slots(const models::Model& model) {
  const std::vector<models::NamedTensor> all = model.parameters();
  const auto slots = models::gradient_slots_of(model.root());
  std::vector<std::shared_ptr<models::GradientSlot>> trained;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (all[index].tensor.requires_grad()) trained.push_back(slots[index]);
  }
  return trained;
}

std::vector<at::Tensor> tensors_of(const std::vector<models::NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const models::NamedTensor& parameter : named) tensors.push_back(parameter.tensor);
  return tensors;
}

}  // namespace lockstep::parallel
