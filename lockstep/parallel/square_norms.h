// The squared norm of a step's gradient on this worker's own samples, before it is reduced, and on the global
// batch, after it: the gradient noise scale is computed from the two. Both read all gradients, so one step in
// kEvery is looked at. On cores only: a device would have to be asked.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "lockstep/comm/buffer.h"
#include "lockstep/record/figures.h"

namespace lockstep::parallel {

class SquareNorms {
 public:
  static constexpr std::int64_t kEvery = 32;
  static constexpr std::int64_t kFirst = 12;  // after the first steps, which are not counted in most runs

  explicit SquareNorms(bool wanted) : wanted_(wanted) {}

  // Gradients are sums over this worker's samples divided by `divisor`, the samples of all workers.
  void begin_step(std::int64_t step, double own_samples, double divisor);
  void add_local(const comm::Buffer& bucket);
  void add_reduced(const comm::Buffer& bucket);
  // Of the last step, if it was looked at.
  std::optional<record::SquareNorm> last() const;

 private:
  bool wanted_;
  bool looks_ = false;
  double to_own_mean_ = 1;  // from a sum over the divisor to the mean over this worker's samples
  double local_ = 0;
  double reduced_ = 0;
};

}  // namespace lockstep::parallel
