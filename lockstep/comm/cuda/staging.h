// Puts buffers where kernels can use them. Host buffers pass through a pinned buffer and one on the device,
// copied by the stream in its order, so that nothing waits; outputs that overlap inputs in a way the kernels
// do not know get device memory of their own.
//
// One pair of buffers serves all operations of a communicator: the stream lets only one use it at a time.
#pragma once

#include <functional>
#include <memory>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/cuda/host_gate.h"
#include "lockstep/device/cuda/cuda_memory.h"

namespace lockstep::comm {

class Staging {
 public:
  // `drain` returns when nothing on the stream uses the buffers any more. Host buffers are touched through
  // the gate.
  Staging(cudaStream_t stream, std::shared_ptr<HostGate> gate, std::function<void()> drain)
      : stream_(stream), gate_(std::move(gate)), drain_(std::move(drain)) {}

  // Copies host input in; returns the operation with buffers on the device.
  Operation enter(const Operation& operation, const Group& group);
  // Copies what `staged` (from enter) has written back to where `operation` wants it.
  void leave(const Operation& operation, const Operation& staged, const Group& group);

 private:
  Buffer staged_at(const Buffer& buffer, std::size_t offset_bytes) const;
  void reserve(std::size_t bytes);
  void host_copy_on_stream(void* to, const void* from, std::size_t bytes) const;
  void copy_in(const Buffer& staged, const Buffer& original);
  void copy_out(const Buffer& original, const Buffer& staged);
  std::byte* pinned_for(const Buffer& staged) const;

  cudaStream_t stream_;
  std::shared_ptr<HostGate> gate_;
  std::function<void()> drain_;
  device::cuda::Memory device_{};
  device::cuda::Memory pinned_{};
};

}  // namespace lockstep::comm
