#include "lockstep/comm/wrappers/injecting.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::comm {

DelayingCommunicator::DelayingCommunicator(std::unique_ptr<Communicator> inner, base::Nanoseconds delay,
                                           OperationFilter filter)
    : ForwardingCommunicator(std::move(inner)), delay_(delay), filter_(std::move(filter)) {}

measure::Movement DelayingCommunicator::run(const Operation& operation) {
  if (!filter_(operation)) return inner().run(operation);
  queue().delay(delay_);
  measure::Movement movement = inner().run(operation);
  movement.busy += delay_;
  return movement;
}

Work DelayingCommunicator::start(const Operation& operation, Completion on_done) {
  if (!filter_(operation)) return inner().start(operation, std::move(on_done));
  queue().delay(delay_);
  return inner().start(operation, [delay = delay_, on_done = std::move(on_done)](measure::Movement movement) {
    movement.busy += delay;
    if (on_done) on_done(movement);
  });
}

std::unique_ptr<Communicator> DelayingCommunicator::wrap(std::unique_ptr<Communicator> made) {
  return std::make_unique<DelayingCommunicator>(std::move(made), delay_, filter_);
}

FailingCommunicator::FailingCommunicator(std::unique_ptr<Communicator> inner, int passes,
                                         OperationFilter filter)
    : ForwardingCommunicator(std::move(inner)), passes_(passes), filter_(std::move(filter)) {}

measure::Movement FailingCommunicator::run(const Operation& operation) {
  count_down(operation);
  return inner().run(operation);
}

Work FailingCommunicator::start(const Operation& operation, Completion on_done) {
  count_down(operation);
  return inner().start(operation, std::move(on_done));
}

std::unique_ptr<Communicator> FailingCommunicator::wrap(std::unique_ptr<Communicator> made) {
  return std::make_unique<FailingCommunicator>(std::move(made), passes_, filter_);
}

void FailingCommunicator::count_down(const Operation& operation) {
  if (!filter_(operation) || passes_-- > 0) return;
  throw base::CommError(base::CommError::Kind::failed, fmt::format("rank {}: {} was made to fail by a test",
                                                                   group().rank, describe(operation)));
}

}  // namespace lockstep::comm
