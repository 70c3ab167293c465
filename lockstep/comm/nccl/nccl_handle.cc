#include "lockstep/comm/nccl/nccl_handle.h"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/pause.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;
constexpr base::Nanoseconds kFinishTimeout = std::chrono::seconds(5);
constexpr base::Nanoseconds kAbortPatience = std::chrono::milliseconds(500);  // with a call under way

bool is_trouble(ncclResult_t result) {
  return result != ncclSuccess && result != ncclInProgress;
}

std::string_view likely_cause(ncclResult_t result) {
  switch (result) {
    case ncclRemoteError:
      return "A peer has ended or its network broke: look at the other ranks' logs.";
    case ncclSystemError:
      return "A system call failed, often because a peer ended: look at the other ranks' logs.";
    case ncclInvalidUsage:
      return "Two ranks on one GPU need different NCCL_HOSTIDs; set NCCL_DEBUG=WARN for NCCL's own words.";
    default:
      return "Set NCCL_DEBUG=WARN for NCCL's own words.";
  }
}

}  // namespace

NcclHandle::NcclHandle(std::shared_ptr<const NcclLibrary> library, const NcclHandleOptions& options,
                       base::Deadline deadline)
    : library_(std::move(library)), rank_(options.rank) {
  begin(options);
  try {
    settle("opening an NCCL communicator", deadline);
  } catch (const std::exception& error) {
    abort(error.what());
    throw;
  }
}

void NcclHandle::begin(const NcclHandleOptions& options) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  ncclResult_t result = ncclSuccess;
  {
    const std::lock_guard lock(mutex_);
    result = library_->comm_init_rank_config(&comm_, options.world, options.id, options.rank, &config);
  }
  if (is_trouble(result)) fail(result, "opening an NCCL communicator", last_error());
}

NcclHandle::~NcclHandle() {
  close();
  if (aborting_.valid()) aborting_.wait_for(kFinishTimeout);
}

void NcclHandle::close() noexcept {
  try {
    if (!aborted()) finish();
  } catch (const std::exception&) {
    // What cannot be closed is aborted.
  }
  abort("it was closed");
}

// Finalising lets NCCL's network threads hand over what peers are still to receive.
void NcclHandle::finish() {
  const base::Deadline deadline(kFinishTimeout);
  {
    const std::lock_guard lock(mutex_);
    if (comm_ == nullptr || is_trouble(library_->comm_finalize(comm_))) return;
  }
  settle("closing an NCCL communicator", deadline);
  const std::lock_guard lock(mutex_);
  if (comm_ != nullptr) static_cast<void>(library_->comm_destroy(std::exchange(comm_, nullptr)));
}

void NcclHandle::issue(const Calls& calls, std::string_view what, base::Deadline deadline) {
  ncclResult_t result = ncclSuccess;
  {
    const std::lock_guard lock(mutex_);
    require_open(what);
    result = group(calls, comm_);
  }
  if (is_trouble(result)) fail(result, what, last_error());
  if (result == ncclInProgress) settle(what, deadline);
}

ncclResult_t NcclHandle::group(const Calls& calls, ncclComm_t comm) const {
  const ncclResult_t started = library_->group_start();
  if (started != ncclSuccess) return started;
  const ncclResult_t called = calls(*library_, comm);
  const ncclResult_t ended = library_->group_end();  // also after a failed call: groups must not stay open
  return is_trouble(called) ? called : ended;
}

ncclResult_t NcclHandle::state() {
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) return ncclInvalidUsage;
  ncclResult_t now = ncclSuccess;
  const ncclResult_t asked = library_->comm_get_async_error(comm_, &now);
  return asked == ncclSuccess ? now : asked;
}

void NcclHandle::settle(std::string_view what, base::Deadline deadline) {
  Pause pause;
  for (;;) {
    const ncclResult_t now = state();
    if (now == ncclSuccess) return;
    if (is_trouble(now)) check_health(what);
    if (deadline.passed())
      throw base::CommError(Kind::timed_out,
                            fmt::format("rank {}: {} did not get under way in time: a peer did not make the "
                                        "same call, or cannot be reached. Look at the other ranks' logs.",
                                        rank_, what));
    pause();
  }
}

bool NcclHandle::healthy() {
  return !is_trouble(state());
}

void NcclHandle::check_health(std::string_view what) {
  {
    const std::lock_guard lock(mutex_);
    require_open(what);
  }
  const ncclResult_t now = state();
  if (is_trouble(now)) fail(now, what, last_error());
}

void NcclHandle::abort(const std::string& reason) noexcept {
  try {
    {
      const std::lock_guard lock(reason_mutex_);
      if (reason_.empty()) reason_ = reason;
    }
    aborted_.store(true, std::memory_order_release);
    ncclComm_t doomed = nullptr;
    {
      const std::unique_lock lock(mutex_, kAbortPatience);
      if (lock.owns_lock()) std::swap(doomed, comm_);
    }
    if (doomed != nullptr) abort_beside(doomed);
  } catch (const std::exception&) {
    // Nothing more can be done; NCCL's memory goes with the process.
  }
}

// Kernels end at once, but NCCL's call returns only when every CUDA graph that the communicator was recorded
// into is gone, and the thread that aborts may be the one that has to let go of them.
void NcclHandle::abort_beside(ncclComm_t doomed) {
  std::packaged_task<void()> task(
      [library = library_, doomed] { static_cast<void>(library->comm_abort(doomed)); });
  aborting_ = task.get_future();
  std::thread(std::move(task)).detach();
}

std::string NcclHandle::abort_reason() const {
  const std::lock_guard lock(reason_mutex_);
  return reason_;
}

void NcclHandle::require_open(std::string_view what) const {
  if (comm_ != nullptr) return;
  throw base::CommError(Kind::collateral,
                        fmt::format("rank {}: {} was ended: {}", rank_, what, abort_reason()));
}

void NcclHandle::fail(ncclResult_t result, std::string_view what, const std::string& detail) {
  const Kind kind = result == ncclRemoteError ? Kind::peer_lost : Kind::failed;
  throw base::CommError(kind, fmt::format("rank {}: {} failed in NCCL: {}{}. {}", rank_, what,
                                          library_->get_error_string(result),
                                          detail.empty() ? "" : " (" + detail + ")", likely_cause(result)));
}

std::string NcclHandle::last_error() const {
  const std::lock_guard lock(mutex_);
  const char* text = library_->get_last_error(comm_);
  return text == nullptr ? "" : text;
}

}  // namespace lockstep::comm
