#include "lockstep/parallel/cuda/ordered_communicator.h"

namespace lockstep::parallel {
namespace {

bool on_device(const comm::Operation& operation) {
  return operation.input.place == comm::Place::device || operation.output.place == comm::Place::device;
}

}  // namespace

std::unique_ptr<comm::Communicator> OrderedCommunicator::unordered(
    std::unique_ptr<comm::Communicator> communicator) {
  auto* ordered = dynamic_cast<OrderedCommunicator*>(communicator.get());
  return ordered == nullptr ? std::move(communicator) : ordered->take_inner();
}

measure::Movement OrderedCommunicator::run(const comm::Operation& operation) {
  if (!on_device(operation)) return inner().run(operation);
  compute_.wait_for(start(operation, {}));
  return {};
}

comm::Work OrderedCommunicator::start(const comm::Operation& operation, comm::Completion on_done) {
  if (on_device(operation)) inner().queue().wait_for(compute_.mark());
  return inner().start(operation, std::move(on_done));
}

}  // namespace lockstep::parallel
