#include "lockstep/parallel/single.h"

#include <ATen/ATen.h>

#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/parallel/pass.h"

namespace lockstep::parallel {

// Autograd makes gradients among activations; they stay when those are gone.
Single::Single(const Surroundings& surroundings)
    : surroundings_(surroundings),
      tap_(&surroundings.compute, tensors_of(trained_parameters(surroundings.model)),
           [this](std::size_t parameter) {
             measure::count_as(updatables_[parameter].value.grad(), measure::Use::gradients);
           }) {
  for (const models::NamedTensor& parameter : trained_parameters(surroundings_.model)) {
    updatables_.push_back({parameter.name, parameter.tensor, {}});
  }
  give_slots();
}

Single::~Single() {
  models::remove_gradient_slots(surroundings_.model.root());
}

void Single::give_slots() {
  const measure::UseScope use(measure::Use::gradients);
  slots_ = trained_slots(surroundings_.model);
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index]->direct()) slots_[index]->view = at::empty_like(updatables_[index].value.detach());
  }
}

void Single::forget_gradients() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::optimizer);
  for (std::size_t index = 0; index < updatables_.size(); ++index) {
    updatables_[index].value.mutable_grad().reset();
    updatables_[index].gradient.reset();  // two steps' gradients are never there at once
    slots_[index]->fresh = true;
  }
}

PartResult Single::train_part(const StepPart& part) {
  if (part.first) forget_gradients();
  if (part.inputs.size(0) == 0) return empty_result(part);
  return run_pass(surroundings_, runner_, part);
}

// A layer has written its gradient into its slot; other gradients are used where autograd left them. A
// parameter that the model did not use has a gradient of zero.
void Single::finish_gradients() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::backward);
  for (std::size_t index = 0; index < updatables_.size(); ++index) {
    Updatable& updatable = updatables_[index];
    const models::GradientSlot& slot = *slots_[index];
    if (slot.in_use()) {
      if (slot.fresh) slot.view.zero_();
      updatable.gradient = slot.view;
      continue;
    }
    if (!updatable.value.grad().defined()) updatable.value.mutable_grad() = at::zeros_like(updatable.value);
    updatable.gradient = updatable.value.grad();
  }
}

}  // namespace lockstep::parallel
