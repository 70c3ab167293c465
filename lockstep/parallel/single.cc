#include "lockstep/parallel/single.h"

#include <ATen/ATen.h>

#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/parallel/pass.h"

namespace lockstep::parallel {

// Autograd makes gradients among activations; they stay when those are gone.
Single::Single(const Surroundings& surroundings)
    : surroundings_(surroundings),
      tap_(tensors_of(trained_parameters(surroundings.model)), [this](std::size_t parameter) {
        measure::count_as(updatables_[parameter].value.grad(), measure::Use::gradients);
      }) {
  for (const models::NamedTensor& parameter : trained_parameters(surroundings_.model)) {
    updatables_.push_back({parameter.name, parameter.tensor, {}});
  }
}

PartResult Single::train_part(const StepPart& part) {
  if (part.first) {
    for (Updatable& updatable : updatables_) updatable.value.mutable_grad().reset();
  }
  return run_pass(surroundings_, runner_, part);
}

// Autograd hands over the gradients it made: they are used where they lie. A parameter that the model did not
// use has a gradient of zero.
void Single::finish_gradients() {
  for (Updatable& updatable : updatables_) {
    if (!updatable.value.grad().defined()) updatable.value.mutable_grad() = at::zeros_like(updatable.value);
    updatable.gradient = updatable.value.grad();
  }
}

}  // namespace lockstep::parallel
