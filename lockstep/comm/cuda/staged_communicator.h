// Lets a backend of the host serve buffers on a GPU: what goes out is copied to pinned memory, what comes in
// is copied back, around the host's own operation. Nothing else changes: buffers of the host pass through.
#pragma once

#include "lockstep/comm/thread_queue.h"
#include "lockstep/comm/wrappers/forwarding.h"
#include "lockstep/device/cuda/cuda_memory.h"
#include "lockstep/device/cuda/cuda_stream.h"

namespace lockstep::comm {

class StagedCommunicator : public ForwardingCommunicator {
 public:
  StagedCommunicator(std::unique_ptr<Communicator> host, int device);

  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;
  // Of this communicator's own thread, which does the copying and runs the host's operations.
  Queue& queue() override { return queue_; }
  // On the device.
  Allocation allocate(std::size_t bytes) override;
  void copy(const Buffer& to, const Buffer& from) override;
  std::unique_ptr<Communicator> split(int colour, int key) override;
  std::unique_ptr<Communicator> duplicate() override;

 protected:
  std::unique_ptr<Communicator> wrap(std::unique_ptr<Communicator> made) override;

 private:
  measure::Movement execute(const Operation& operation);
  Operation staged(const Operation& operation);
  void copy_and_wait(const Buffer& to, const Buffer& from);

  int device_;
  device::cuda::Stream stream_;
  device::cuda::Memory pinned_;
  ThreadQueue queue_;  // last: its thread ends before what it uses goes
};

}  // namespace lockstep::comm
