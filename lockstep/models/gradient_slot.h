// Where the gradient of a parameter shall go. Autograd makes a temporary gradient and then accumulates it; a
// layer that knows its parameter's slot writes the gradient there itself (a bucket, say) and hands autograd
// none.
//
// Whoever gives slots sets `fresh` at the start of a step. A parameter that has a slot must be used once a
// pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace lockstep::models {

class Unit;

class GradientSlot {
 public:
  at::Tensor view;    // the parameter's shape and strides; undefined: the slot is not in use
  bool fresh = true;  // nothing there yet: overwrite; else accumulate
  // Called whenever a gradient was written, on the thread of backward.
  std::function<void()> on_written;

  // Whether the layer writes the gradient itself. Where it does not, the gradient appears in the parameter's
  // .grad as ever, and moving it is the business of whoever gave the slot (a post hook of its
  // grad_accumulator).
  bool direct() const { return direct_; }
  bool in_use() const { return direct_ && view.defined(); }

  void written() {
    fresh = false;
    if (on_written) on_written();
  }

 private:
  friend class Unit;
  bool direct_ = false;
};

// One slot for every parameter, in the order of parameters_of: those there are, and new ones where there is
// none.
std::vector<std::shared_ptr<GradientSlot>> gradient_slots_of(Unit& root);
// All gradients go to .grad again.
void remove_gradient_slots(Unit& root);

}  // namespace lockstep::models
