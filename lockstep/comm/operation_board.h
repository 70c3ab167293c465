// Shows other threads what a rank's communicators are doing: the running operation, or the last finished one.
// The control thread reads it to answer "where are you?" when some rank waits in vain, and to end operations
// that outlive their deadline inside a library that cannot be interrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm {

// One rank's position, as it is sent to whoever asks.
struct OperationStatus {
  std::uint64_t sequence = 0;  // operations begun so far; the running or last one has this number
  bool running = false;
  std::string description;     // "all_reduce (sum) of 1024 f32 over gloo"; empty before the first
  base::Nanoseconds since{0};  // how long it has been running, or how long ago it ended
};

// One communicator's. Written by one thread at a time, read by any. A write costs a few nanoseconds besides
// the clock's.
class OperationBoard {
 public:
  void begin(const Operation& operation, std::string_view backend, base::TimePoint at,
             base::Nanoseconds timeout);
  // A call into a library that is no operation: "MPI_Init". Both names are literals.
  void begin_call(const char* name, const char* backend, base::TimePoint at, base::Nanoseconds timeout);
  void end(base::TimePoint at);
  OperationStatus status() const;
  // How far past its deadline the running operation is; nothing when none runs or it still has time.
  std::optional<base::Nanoseconds> overdue() const;

 private:
  void run(const char* backend, base::TimePoint at, base::Nanoseconds timeout);

  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> running_{false};
  std::atomic<std::int64_t> at_{0};       // steady-clock nanoseconds of the last change
  std::atomic<std::int64_t> timeout_{0};  // nanoseconds
  std::atomic<Collective> collective_{Collective::barrier};
  std::atomic<ReduceOp> reduce_op_{ReduceOp::sum};
  std::atomic<ElementType> type_{ElementType::u8};
  std::atomic<std::size_t> input_bytes_{0};
  std::atomic<std::size_t> output_bytes_{0};
  std::atomic<int> root_{0};
  std::atomic<const char*> backend_{""};    // a literal
  std::atomic<const char*> call_{nullptr};  // likewise, where it is no operation
};

// All boards of a rank, one for each communicator that lives. Must outlive the boards.
class OperationBoards {
 public:
  std::shared_ptr<OperationBoard> add();
  // The board that says most about where this rank is: a running operation before a finished one, the
  // longest-running or else the latest first. A communicator that is gone still counts by its last operation:
  // one that failed is destroyed before anybody asks, and its operation is the one to name.
  OperationStatus status() const;
  // The longest any running operation is past its deadline.
  std::optional<base::Nanoseconds> overdue() const;

 private:
  std::vector<std::shared_ptr<const OperationBoard>> living() const;
  void retire(const OperationBoard& board);
  // With the mutex held.
  bool more_telling_than_retired(const OperationStatus& status) const;
  OperationStatus aged_retired() const;

  mutable std::mutex mutex_;
  OperationStatus retired_;  // the most telling of boards that are gone
  base::TimePoint retired_at_{};
  mutable std::vector<std::weak_ptr<const OperationBoard>> boards_;
};

// A library's first meeting of all ranks is a call that cannot be interrupted: while this lives, the rank's
// control thread sees it, and ends the process where a peer does not come.
class CallOnBoard {
 public:
  // `boards` may be null.
  CallOnBoard(OperationBoards* boards, const char* name, const char* backend, base::Nanoseconds timeout);
  ~CallOnBoard();
  CallOnBoard(const CallOnBoard&) = delete;
  CallOnBoard& operator=(const CallOnBoard&) = delete;

 private:
  std::shared_ptr<OperationBoard> board_;
};

}  // namespace lockstep::comm
