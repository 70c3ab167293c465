// Wrappers that disturb on purpose, for tests: one makes the link slow, one makes an operation fail.
#pragma once

#include <functional>

#include "lockstep/base/clock.h"
#include "lockstep/comm/wrappers/forwarding.h"

namespace lockstep::comm {

// Which operations a disturbance hits.
using OperationFilter = std::function<bool(const Operation&)>;

// Holds every matching operation back for `delay` on the queue; the delay counts as busy.
class DelayingCommunicator : public ForwardingCommunicator {
 public:
  DelayingCommunicator(std::unique_ptr<Communicator> inner, base::Nanoseconds delay, OperationFilter filter);
  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;

 protected:
  std::unique_ptr<Communicator> wrap(std::unique_ptr<Communicator> made) override;

 private:
  base::Nanoseconds delay_;
  OperationFilter filter_;
};

// Throws a CommError instead of running the matching operation, after `passes` matching ones went through.
class FailingCommunicator : public ForwardingCommunicator {
 public:
  FailingCommunicator(std::unique_ptr<Communicator> inner, int passes, OperationFilter filter);
  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;

 protected:
  std::unique_ptr<Communicator> wrap(std::unique_ptr<Communicator> made) override;

 private:
  void count_down(const Operation& operation);

  int passes_;
  OperationFilter filter_;
};

}  // namespace lockstep::comm
