// The queue a worker computes on, so that communication can be ordered with it. On a CPU the training thread
// itself computes: everything it has called is done, and it waits by waiting. On a GPU it is a stream, and
// nobody waits but the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/shared/hands.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/measure/utilisation.h"

namespace lockstep::parallel {

// Work of a queue that was recorded once and that the device repeats by itself.
class Repeat {
 public:
  virtual ~Repeat() = default;
  virtual void run() = 0;
};

class ComputeQueue {
 public:
  virtual ~ComputeQueue() = default;
  // Lets what the calling thread computes go to this queue. Threads of libtorch's own, which call back in
  // backward, would use another one.
  virtual void use_here() = 0;
  // Lets backward of what the calling thread computes run on that thread, too: then one thread, in the order
  // of the graph alone, calls every hook and tells of every gradient. libtorch has one thread a device for
  // it, on which the queues of a device would wait for each other, and which shares the hooks with the thread
  // that called backward. On cores it is so anyway.
  virtual void keep_backward_here() = 0;
  // Complete when everything computed so far is; empty where that is so already.
  virtual comm::Work mark() = 0;
  // What is computed from now on comes after the work. Throws what went wrong in it, where that is known.
  virtual void wait_for(const comm::Work& work) = 0;
  // Returns when everything computed so far is done.
  virtual void synchronise() = 0;
  // Splits steps where this queue's time passes.
  virtual std::unique_ptr<measure::StepTimer> step_timer(measure::SpanListener* listener) = 0;
  // Orders operations on tensors of this queue's device after what computes them, and what uses them after
  // the operations: then run() and start() need no waiting by the caller. Those of a device's own backend
  // also take turns with all made from this one (ordered_communicator.h). One that another queue has ordered
  // is ordered with this one instead, and keeps its turns. On a CPU, the communicator itself.
  virtual std::unique_ptr<comm::Communicator> ordered(std::unique_ptr<comm::Communicator> communicator) = 0;
  // Lets a communicator of the host serve tensors of this queue's device too.
  virtual std::unique_ptr<comm::Communicator> staged(std::unique_ptr<comm::Communicator> communicator) = 0;
  // What moves tensors of this queue's device between replicas of one process, where they lie; null for
  // cores.
  virtual std::unique_ptr<comm::shared::Hands> hands() = 0;
  // Records what `work` computes, without computing it; it is computed by the result's run(), on the same
  // memory. Throws DeviceError where something in it cannot be recorded. Null: this queue cannot record
  // (cores).
  virtual std::unique_ptr<Repeat> record(const std::function<void()>& work) = 0;
  // "NVIDIA H200"; empty for cores.
  virtual std::string gpu() const = 0;
  // Asks the GPU how busy it is; empty for cores, and where nobody can say.
  virtual std::function<std::optional<measure::DeviceReading>()> sensors() = 0;
  // What this process may allocate on its GPU from now on; more is out of memory. Cores have an account for
  // it (measure::MemoryAccount).
  virtual void limit_memory(std::uint64_t bytes) = 0;
  // Counts from now on what tensors take on this queue's device, by use, in `account` or in that of a
  // thread's scope. False where nobody tells. Tensors of cores are counted by the worker's allocator already.
  virtual bool count_memory(std::shared_ptr<measure::MemoryAccount> account) = 0;
};

// A queue of its own; threads go on computing where they did until they use it. Throws DeviceError where the
// device cannot be used by this build.
std::unique_ptr<ComputeQueue> compute_queue(const at::Device& device);

std::unique_ptr<ComputeQueue> host_compute_queue();
// Defined by cuda/ or by a stub that says why there is none.
std::unique_ptr<ComputeQueue> cuda_compute_queue(const at::Device& device);

}  // namespace lockstep::parallel
