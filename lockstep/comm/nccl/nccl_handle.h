// One NCCL communicator: watched while it works, and aborted from any thread.
//
// It is NCCL's blocking kind: the other one hands every call to a thread of its own, which nearly doubles the
// time of a small all-reduce. Blocking calls are short here, because all ranks have said through the store
// that they are coming before the communicator is made, and are connected right after. A call under way and
// an abort from another thread never overlap: the handle is locked for the time of a call, and is gone once
// it was aborted. A call that does not return in spite of all is left to the rank's control thread, which
// ends the process.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "lockstep/base/clock.h"
#include "lockstep/comm/cuda/device_link.h"
#include "lockstep/comm/nccl/nccl_library.h"

namespace lockstep::comm {

struct NcclHandleOptions {
  ncclUniqueId id{};
  int rank = 0;
  int world = 1;
};

class NcclHandle : public DeviceLink {
 public:
  // Collective; the calling thread's current device is the communicator's. Throws CommError at the deadline.
  NcclHandle(std::shared_ptr<const NcclLibrary> library, const NcclHandleOptions& options,
             base::Deadline deadline);
  ~NcclHandle() override;
  // Lets the peers have what was sent (a few seconds at most) and frees the communicator.
  void close() noexcept;

  const NcclLibrary& library() const { return *library_; }

  // Makes NCCL calls that put work on a stream, as one group, and returns when NCCL has put it there; the
  // work itself is not waited for. NCCL connects ranks when they first talk, so the first call of a kind
  // takes until its peers make it too.
  using Calls = std::function<ncclResult_t(const NcclLibrary&, ncclComm_t)>;
  void issue(const Calls& calls, std::string_view what, base::Deadline deadline);

  const char* backend_name() const override { return "nccl"; }
  bool healthy() override;
  void check_health(std::string_view what) override;
  bool broken() const override { return aborted(); }
  void abort(const std::string& reason) noexcept override;
  bool aborted() const override { return aborted_.load(std::memory_order_acquire); }
  std::string abort_reason() const override;

 private:
  void begin(const NcclHandleOptions& options);
  ncclResult_t group(const Calls& calls, ncclComm_t comm) const;
  // NCCL's state now: success, in progress, or an error; an error too when there is no communicator any more.
  ncclResult_t state();
  void settle(std::string_view what, base::Deadline deadline);
  void finish();
  void abort_beside(ncclComm_t doomed);
  [[noreturn]] void fail(ncclResult_t result, std::string_view what, const std::string& detail);
  void require_open(std::string_view what) const;
  std::string last_error() const;

  std::shared_ptr<const NcclLibrary> library_;
  int rank_;
  mutable std::timed_mutex mutex_;   // guards comm_ and every call of NCCL
  mutable std::mutex reason_mutex_;  // guards reason_
  ncclComm_t comm_ = nullptr;
  std::string reason_;
  std::atomic<bool> aborted_{false};
  std::future<void> aborting_;  // valid once NCCL was asked to
};

}  // namespace lockstep::comm
