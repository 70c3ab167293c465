// What can be told about the units of a model while they run: the seam for everything that acts per unit
// (gathering and freeing sharded parameters, spans, memory by layer) without a model file knowing.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep::models {

class Unit;

// Calls come on the thread that runs the pass (on CUDA: backward's on autograd's device thread, while the
// caller of backward waits, unless that one keeps its backward: parallel::ComputeQueue). An exception ends
// the pass and reaches the caller of Runner::forward or backward. The hooks of one unit are called in the
// order of their registration before, in the reverse order after.
class UnitHooks {
 public:
  virtual ~UnitHooks() = default;

  // Asked once for every unit, when the hooks are attached.
  virtual bool wants(const Unit&) const { return true; }

  virtual void before_forward(Unit&, const at::Tensor& /*input*/) {}
  virtual void after_forward(Unit&, const at::Tensor& /*output*/) {}
  // The gradient of the unit's output is there, and none of its backward has run.
  virtual void before_backward(Unit&) {}
  // The gradients of the unit's input and parameters are there. Where nothing before the unit needs a
  // gradient, this comes at the end of backward.
  virtual void after_backward(Unit&) {}
};

}  // namespace lockstep::models
