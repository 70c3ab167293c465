// The few things that need torch's CUDA headers, and of them its inside: which stream torch computes on, its
// allocator, and on which thread it runs backward. Nothing else in this module includes them.
#pragma once

#include <driver_types.h>

#include <utility>

namespace lockstep::parallel {

// Of the calling thread, on the current device.
cudaStream_t torch_stream();
// Makes `device` torch's current one on the calling thread.
void use_torch_device(int device);
// One of the streams that torch keeps: the default one cannot be recorded.
cudaStream_t own_torch_stream(int device);
// Makes it what torch computes on in the calling thread.
void use_torch_stream(cudaStream_t stream, int device);
// Lets torch run backward on the thread that calls for it, for calls of this one.
void keep_torch_backward_here();
// What its allocator may take of the device's memory.
void limit_torch_memory(int device, double share);
// Whether its allocator tells what it gives out. Others than the ordinary one
// (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync) tell nothing.
bool torch_tells_of_memory();

// While it is open, what torch takes on a stream that is being recorded comes from memory of its own, which
// is kept until this goes.
class PrivateMemory {
 public:
  explicit PrivateMemory(int device);
  ~PrivateMemory();
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;
  void end();

 private:
  int device_;
  std::pair<unsigned long long, unsigned long long> pool_;
  bool open_ = true;
};

}  // namespace lockstep::parallel
