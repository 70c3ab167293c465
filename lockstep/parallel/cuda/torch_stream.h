// The few things that need torch's CUDA headers: which stream torch computes on, and its allocator.
#pragma once

#include <driver_types.h>

namespace lockstep::parallel {

// Of the calling thread, on the current device.
cudaStream_t torch_stream();
// Makes `device` torch's current one on the calling thread.
void use_torch_device(int device);
// What its allocator may take of the device's memory.
void limit_torch_memory(int device, double share);

}  // namespace lockstep::parallel
