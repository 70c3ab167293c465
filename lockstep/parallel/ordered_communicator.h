// Orders a communicator's operations on device memory with the queue that torch computes on, and with those
// of the other communicators of this rank on that device.
//
// Why communicators take turns. An operation of a device waits on the device for its peers'. Two that are in
// flight on two streams at once may be begun in either order, and when rank 0 runs that of communicator a,
// and rank 1 that of b, each may keep the other from beginning: for want of multiprocessors, or because two
// streams are one queue of the hardware. So each begins after the one before it has ended, whosever it was:
// the device runs them in the order in which the host gave them. That this order is the same on all ranks is
// the business of who gives them (docs/architecture.md, "One order").
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "lockstep/comm/wrappers/forwarding.h"
#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {

// Whose turn it was on a device, and what the next one comes after.
class DeviceTurns {
 public:
  // Puts an operation of `communicator` on its queue, by `start`, behind what the one before it has put on
  // another queue.
  comm::Work take(comm::Communicator& communicator, const std::function<comm::Work()>& start);
  // The communicator goes, and with it what it has put on its queue.
  void forget(const comm::Communicator* communicator);

 private:
  std::mutex mutex_;
  const comm::Communicator* last_user_ = nullptr;
  comm::Work last_;
};

class OrderedCommunicator : public comm::ForwardingCommunicator {
 public:
  // The turns are those of `inner`, where it is ordered already, and of all that are made from this one.
  OrderedCommunicator(std::unique_ptr<comm::Communicator> inner, ComputeQueue& compute);
  ~OrderedCommunicator() override;

  // Operations on device memory: the device waits, the caller does not. Their movement is in the ledger when
  // it is known, and empty here.
  measure::Movement run(const comm::Operation& operation) override;
  comm::Work start(const comm::Operation& operation, comm::Completion on_done) override;

 protected:
  std::unique_ptr<comm::Communicator> wrap(std::unique_ptr<comm::Communicator> made) override;

 private:
  struct Parts {
    std::unique_ptr<comm::Communicator> inner;
    std::shared_ptr<DeviceTurns> turns;
  };
  static Parts taken_apart(std::unique_ptr<comm::Communicator> communicator);
  OrderedCommunicator(Parts parts, ComputeQueue& compute);

  ComputeQueue& compute_;
  const comm::Communicator* user_;      // what is inside
  std::shared_ptr<DeviceTurns> turns_;  // null: a backend of the host, whose threads wait for nobody's device
};

}  // namespace lockstep::parallel
