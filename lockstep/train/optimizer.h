// Update rules. The arithmetic is fused: one pass over memory for a whole list of tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/models/unit.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/record/spec.h"

namespace lockstep::train {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One update of every value from its gradient. The same list, in the same order, at every step; state is
  // made at the first one and counts as measure::Use::optimizer. Values and gradients are dense and of one
  // memory order; on the CPU or a GPU. An undefined gradient leaves its value as it is. What an element
  // becomes does not depend on how tensors are cut, on the other tensors or (CPU) on threads and the
  // instruction set: to the last bit.
  void step(std::span<const parallel::Updatable> updatables, double learning_rate) {
    advance(learning_rate);
    update(updatables);
  }
  // The two halves of a step. The first one counts the step and hands its learning rate to where values are
  // updated; the second one may be repeated by a GPU alone, from a graph of the step.
  virtual void advance(double learning_rate) = 0;
  virtual void update(std::span<const parallel::Updatable> updatables) = 0;
  // Tensors of state per parameter: 0 (sgd without momentum), 1 or 2. A bf16 parameter's f32 weights are one
  // more.
  virtual int state_tensors() const = 0;

  // What a resumed run needs: "momentum.layer1.0.conv1.weight", ... and "steps" (a scalar).
  virtual std::vector<models::NamedTensor> state() const = 0;
  // Throws DataError that names what is missing or of another shape.
  virtual void load_state(std::span<const parallel::Updatable> updatables,
                          const std::vector<models::NamedTensor>& state) = 0;
};

// By spec.optimizer, with the formulas and defaults of PyTorch's SGD, Adam and AdamW.
std::unique_ptr<Optimizer> make_optimizer(const record::RunSpec& spec);

// The sum of squares over all gradients, in double; the same bits with any number of threads. On a GPU it
// waits.
double square_norm(std::span<const parallel::Updatable> updatables);
// Multiplies every gradient.
void scale_gradients(std::span<const parallel::Updatable> updatables, double factor);
// What to scale by so that the norm is at most `largest_norm`, by PyTorch's formula; 1 when it is anyway. Not
// a number stays that. Where workers hold parts of the gradient, their square norms are added first.
double clip_factor(double gradient_square_norm, double largest_norm);

}  // namespace lockstep::train
