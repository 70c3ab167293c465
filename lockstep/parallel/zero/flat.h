// What zero1 and zero3 do with flat memory.
#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/step_timer.h"

namespace lockstep::parallel {

// The buffer's elements as one row, of the type and device of `like`: [count].
at::Tensor row_at(const comm::Buffer& buffer, const at::Tensor& like);

// A parameter whose memory goes: it keeps its shape and has no values.
void leave_empty(at::Tensor tensor);

// One number, added up over all ranks; the same bits everywhere. Collective; purpose control.
double sum_over_ranks(comm::Communicator& communicator, measure::StepTimer& timer, double mine);

}  // namespace lockstep::parallel
