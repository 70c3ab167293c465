// Adds up the loss of a step over all workers: one value of the model's type (f32 for bf16), purpose metric.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"

namespace lockstep::train {

class LossReducer {
 public:
  // Collective. Null: one worker.
  LossReducer(comm::Communicator* communicator, const at::TensorOptions& like, measure::StepTimer& timer);

  // Begins with the loss of a step (a scalar). In the background, the result is there when a later step asks
  // for it; otherwise it is there at once.
  void start(const at::Tensor& loss, bool in_background);
  // The loss that was started last. To be called once for each start().
  double finish();

 private:
  comm::Communicator* communicator_;
  measure::StepTimer& timer_;
  comm::Allocation memory_;
  at::Tensor value_;  // scalar
  comm::Work work_;
};

}  // namespace lockstep::train
