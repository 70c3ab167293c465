// One forward and backward of a model over a part of a batch: what every strategy but dp does in the same
// way.
#pragma once

#include "lockstep/models/gradient_slot.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

PartResult run_pass(const Surroundings& surroundings, models::Runner& runner, const StepPart& part);

// What a part without samples gives: a loss of zero, and no output.
PartResult empty_result(const StepPart& part);

// The parameters that are trained, in the model's order. Throws ConfigError when there are none, or when they
// differ in type or device.
std::vector<models::NamedTensor> trained_parameters(const models::Model& model);
// The slots of these parameters, in the same order.
std::vector<std::shared_ptr<models::GradientSlot>> trained_slots(const models::Model& model);
std::vector<at::Tensor> tensors_of(const std::vector<models::NamedTensor>& named);

}  // namespace lockstep::parallel
