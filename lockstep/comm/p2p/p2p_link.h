// What kernels and host tell each other: the host that all must end, the kernels that a peer did not come or
// meant another operation. The words lie in pinned memory, so that either side sees them at once. And what
// all ranks of the group tell each other (shared_words.h).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/comm/cuda/device_link.h"
#include "lockstep/comm/p2p/kernels.h"
#include "lockstep/comm/p2p/shared_words.h"
#include "lockstep/device/cuda/cuda_memory.h"
#include "lockstep/device/cuda/host_pin.h"

namespace lockstep::comm::p2p {

class P2pLink : public DeviceLink {
 public:
  // `timeout` is that of an operation, for messages.
  P2pLink(int rank, int world, base::Nanoseconds timeout);

  const char* backend_name() const override { return "p2p"; }
  bool healthy() override { return !broken(); }
  void check_health(std::string_view what) override;
  bool broken() const override { return aborted() || trouble() != Trouble::none; }
  void abort(const std::string& reason) noexcept override;
  bool aborted() const override { return aborted_.load(std::memory_order_acquire); }
  void abort_again() noexcept override;
  std::string abort_reason() const override;
  void submitted(const Operation& operation) override;
  void completed(const Operation& operation) override;
  std::string why_late(const Operation& operation) const override;

  // Before the first operation: the group's words, which devices use too where it does operations in phases.
  void share(std::unique_ptr<SharedWords> words, bool in_phases, bool shares_a_gpu);
  // By rank, as this rank's device sees them; null unless operations go in phases.
  RankWords* ranks() const { return ranks_; }
  // After a failure: kernels may still use all that is pinned here. It goes with the process.
  void abandon() noexcept;

  HostWords* words() const;

  // Where a kernel notes how long it waited for its peers to come. Notes are used in turn: more operations in
  // flight than there are notes would read each other's.
  std::uint64_t* next_note();

 private:
  Trouble trouble() const;
  int peer() const;

  const int rank_;
  const int world_;
  const base::Nanoseconds timeout_;
  device::cuda::Memory memory_;  // HostWords, then the notes
  std::size_t notes_ = 0;        // handed out
  mutable std::mutex
      mutex_;  // guards reason_ and what follows, which comes after the deck's thread has begun
  std::string reason_;
  std::unique_ptr<SharedWords> shared_;         // null until then, and for one rank alone
  std::unique_ptr<device::cuda::HostPin> pin_;  // of those, in phases
  RankWords* ranks_ = nullptr;
  bool shares_a_gpu_ = false;
  std::atomic<bool> aborted_{false};
};

}  // namespace lockstep::comm::p2p
