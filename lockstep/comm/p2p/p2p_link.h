// What kernels and host tell each other: the host that all must end, the kernels that a peer did not come or
// meant another operation. The words lie in pinned memory, so that either side sees them at once.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/comm/cuda/device_link.h"
#include "lockstep/comm/p2p/kernels.h"
#include "lockstep/device/cuda/cuda_memory.h"

namespace lockstep::comm::p2p {

class P2pLink : public DeviceLink {
 public:
  // `timeout` is that of an operation, for messages.
  P2pLink(int rank, base::Nanoseconds timeout);

  const char* backend_name() const override { return "p2p"; }
  bool healthy() override { return !broken(); }
  void check_health(std::string_view what) override;
  bool broken() const override { return aborted() || trouble() != Trouble::none; }
  void abort(const std::string& reason) noexcept override;
  bool aborted() const override { return aborted_.load(std::memory_order_acquire); }
  std::string abort_reason() const override;

  HostWords* words() const;

  // Where a kernel notes how long it waited for its peers to come. Notes are used in turn: more operations in
  // flight than there are notes would read each other's.
  std::uint64_t* next_note();

 private:
  Trouble trouble() const;
  int peer() const;

  const int rank_;
  const base::Nanoseconds timeout_;
  device::cuda::Memory memory_;  // HostWords, then the notes
  std::size_t notes_ = 0;        // handed out
  mutable std::mutex mutex_;     // guards reason_
  std::string reason_;
  std::atomic<bool> aborted_{false};
};

}  // namespace lockstep::comm::p2p
