// One NCCL communicator: made without blocking, watched while it works, and aborted from any thread.
//
// Everything that NCCL could wait in is asked of it in its non-blocking mode and polled here against a
// deadline. A call under way and an abort from another thread never overlap: the handle is locked for the
// (short) time of a call, and is gone once it was aborted.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "lockstep/base/clock.h"
#include "lockstep/comm/nccl/nccl_library.h"

namespace lockstep::comm {

struct NcclHandleOptions {
  ncclUniqueId id{};
  int rank = 0;
  int world = 1;
};

class NcclHandle {
 public:
  // Collective; the calling thread's current device is the communicator's. Throws CommError at the deadline.
  NcclHandle(std::shared_ptr<const NcclLibrary> library, const NcclHandleOptions& options,
             base::Deadline deadline);
  ~NcclHandle();
  // Lets the peers have what was sent (a few seconds at most) and frees the communicator.
  void close() noexcept;

  const NcclLibrary& library() const { return *library_; }

  // Makes NCCL calls that put work on a stream, as one group, and returns when NCCL has put it there; the
  // work itself is not waited for. NCCL connects ranks when they first talk, so the first call of a kind
  // takes until its peers make it too.
  using Calls = std::function<ncclResult_t(const NcclLibrary&, ncclComm_t)>;
  void issue(const Calls& calls, std::string_view what, base::Deadline deadline);

  // False when NCCL has found an error or the communicator was aborted; check_health() then throws which.
  bool healthy();
  void check_health(std::string_view what);

  // From any thread; the first reason is kept.
  void abort(const std::string& reason) noexcept;
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  std::string abort_reason() const;

 private:
  void begin(const NcclHandleOptions& options);
  ncclResult_t group(const Calls& calls, ncclComm_t comm) const;
  // NCCL's state now: success, in progress, or an error; an error too when there is no communicator any more.
  ncclResult_t state();
  void settle(std::string_view what, base::Deadline deadline);
  void finish();
  [[noreturn]] void fail(ncclResult_t result, std::string_view what, const std::string& detail);
  void require_open(std::string_view what) const;
  std::string last_error() const;

  std::shared_ptr<const NcclLibrary> library_;
  int rank_;
  mutable std::mutex mutex_;  // guards comm_ and reason_, and every call of NCCL
  ncclComm_t comm_ = nullptr;
  std::string reason_;
  std::atomic<bool> aborted_{false};
};

}  // namespace lockstep::comm
