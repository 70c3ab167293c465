// Splits steps by events on a stream: no synchronisation, and the time is the device's. The figures of a step
// are known when the device has passed its end. Events cost the host microseconds that a small model's step
// does not have, so every kDividedEvery-th step is divided into spans, and of the others the length is known.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "lockstep/measure/step_timer.h"

namespace lockstep::device::cuda {

inline constexpr std::int64_t kDividedEvery = 16;

// Of what is computed on `stream`, which is one of `device`. Threads may take turns with the timer.
std::unique_ptr<measure::StepTimer> cuda_step_timer(int device, cudaStream_t stream);

}  // namespace lockstep::device::cuda
