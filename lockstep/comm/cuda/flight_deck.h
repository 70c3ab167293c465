// The operations in flight on one communicator's stream, oldest first: who finds out that one has ended, and
// how.
//
// An operation ends when its last event has fired. That is looked for whenever somebody waits or asks, when
// the next operation starts, and by a slow watching thread, so that a completion is reported, and a deadline
// kept, even when nobody asks. Its completion callback runs before it counts as done.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/cuda/device_link.h"
#include "lockstep/comm/cuda/host_gate.h"
#include "lockstep/comm/operation_board.h"
#include "lockstep/device/cuda/cuda_stream.h"

namespace lockstep::comm {

// One operation between its two events.
struct Flight {
  Operation operation;
  Completion on_done;
  std::shared_ptr<device::cuda::Event> begin;
  std::shared_ptr<device::cuda::Event> end;
  std::shared_ptr<device::cuda::Event> over;  // when both are known: `end`, or the end of a whole recording
  measure::Movement movement;                 // busy and peer wait are filled in when it has ended
  std::function<base::Nanoseconds()> peer_wait{};  // asked once, then; empty where nobody knows

  std::atomic<bool> settled{false};  // set last: after it, nothing below or above changes
  std::exception_ptr error;
};

class FlightDeck : public std::enable_shared_from_this<FlightDeck> {
 public:
  // The gate is closed before anybody hears of a failure. `board` may be null.
  FlightDeck(std::shared_ptr<DeviceLink> link, std::shared_ptr<HostGate> gate, int rank,
             base::Nanoseconds timeout, std::shared_ptr<OperationBoard> board);
  ~FlightDeck();

  // Shows the operation on the board before it is put on the stream, where a backend may first have to
  // connect.
  void announce(const Operation& operation);
  // Takes an operation whose events are recorded. The work keeps the deck alive.
  Work add(std::shared_ptr<Flight> flight);
  // Settles what has ended, and fails everything in flight when the link has failed or the oldest one is
  // late.
  void poll();
  // Returns when the operation has ended; throws what went wrong in it.
  void wait(const Flight& flight);
  // Throws when the communicator can no longer be used.
  void require_usable(const std::string& what) const;

 private:
  bool looked_and_settled(const Flight& flight);
  void settle_ended();
  void settle(Flight& flight, std::exception_ptr error);
  void begin_oldest();
  void check_oldest();
  void fail_all(std::exception_ptr error);
  void throw_unhealthy(const Flight& oldest) const;
  void throw_late(const Flight& oldest) const;
  std::string last_operations() const;
  void watch();

  std::shared_ptr<DeviceLink> link_;
  std::shared_ptr<HostGate> gate_;
  const int rank_;
  const base::Nanoseconds timeout_;
  std::shared_ptr<OperationBoard> board_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Flight>> flights_;
  std::uint64_t ended_ = 0;  // operations that have ended well; the oldest in flight is the next
  Operation last_ended_;
  base::TimePoint oldest_since_{};  // when the oldest one's time began to count
  bool announced_ = false;          // the board shows an operation that is not in flight yet
  bool stopping_ = false;
  std::thread watcher_;  // last: it uses everything above
};

}  // namespace lockstep::comm
