// The one thing that needs torch's CUDA headers: which stream torch computes on.
#pragma once

#include <driver_types.h>

namespace lockstep::parallel {

// Of the calling thread, on the current device.
cudaStream_t torch_stream();
// Makes `device` torch's current one on the calling thread.
void use_torch_device(int device);

}  // namespace lockstep::parallel
