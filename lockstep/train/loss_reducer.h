// Adds up the loss of a step over all workers: one value of the model's type (f32 for bf16), purpose metric.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/parallel/compute_queue.h"

namespace lockstep::train {

class LossReducer {
 public:
  // Collective. Null: one worker.
  LossReducer(comm::Communicator* communicator, const at::TensorOptions& like,
              parallel::ComputeQueue& compute, measure::StepTimer& timer);

  // Begins with the loss of a step (a scalar). In the background, the result is there when a later step asks
  // for it; otherwise it is there at once.
  void start(const at::Tensor& loss, bool in_background);
  // The loss that was started last. To be called once for each start().
  double finish();

 private:
  void reduce(bool in_background);
  void await_on_device();

  comm::Communicator* communicator_;
  parallel::ComputeQueue& compute_;
  measure::StepTimer& timer_;
  comm::Allocation memory_;
  at::Tensor value_;  // scalar, where the loss is computed
  at::Tensor read_;   // scalar, on the host
  comm::Work work_;   // the reduction, while it is in the background
  comm::Work copied_;
};

}  // namespace lockstep::train
