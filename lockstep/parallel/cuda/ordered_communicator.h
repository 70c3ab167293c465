// Orders a communicator's operations on device memory with the stream that torch computes on.
#pragma once

#include "lockstep/comm/wrappers/forwarding.h"
#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {

class OrderedCommunicator : public comm::ForwardingCommunicator {
 public:
  OrderedCommunicator(std::unique_ptr<comm::Communicator> inner, ComputeQueue& compute)
      : ForwardingCommunicator(std::move(inner)), compute_(compute) {}

  // What is inside of one that is ordered; any other one as it is.
  static std::unique_ptr<comm::Communicator> unordered(std::unique_ptr<comm::Communicator> communicator);

  // Operations on device memory: the device waits, the caller does not. Their movement is in the ledger when
  // it is known, and empty here.
  measure::Movement run(const comm::Operation& operation) override;
  comm::Work start(const comm::Operation& operation, comm::Completion on_done) override;

 protected:
  std::unique_ptr<comm::Communicator> wrap(std::unique_ptr<comm::Communicator> made) override {
    return std::make_unique<OrderedCommunicator>(std::move(made), compute_);
  }

 private:
  ComputeQueue& compute_;
};

}  // namespace lockstep::parallel
