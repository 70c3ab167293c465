// The autograd nodes that the call site leaves in the graph: identities that tell the runner where backward
// is, and one that stands for a unit whose activations are not kept.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::models {

class Runner;
class Unit;

// The same values under a new node; in backward, the input's mark means that the unit is done, the output's
// that it is about to start.
at::Tensor mark_input(Runner& runner, Unit& unit, const at::Tensor& input);
at::Tensor mark_output(Runner& runner, Unit& unit, const at::Tensor& output);

// The unit's output, computed without a graph; backward runs the unit again from the input.
at::Tensor run_without_keeping(Runner& runner, Unit& unit, const at::Tensor& input);

}  // namespace lockstep::models
