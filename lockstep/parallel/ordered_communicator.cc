#include "lockstep/parallel/ordered_communicator.h"

#include <string>

#include "lockstep/record/catalogue_rules.h"

namespace lockstep::parallel {
namespace {

bool on_device(const comm::Operation& operation) {
  return operation.input.place == comm::Place::device || operation.output.place == comm::Place::device;
}

// What is recorded is of one communicator, and cannot come after what is not recorded.
bool is_recorded(const comm::Work& work) {
  return work.pending() != nullptr && work.pending()->recording() != nullptr;
}

}  // namespace

comm::Work DeviceTurns::take(comm::Communicator& communicator, const std::function<comm::Work()>& start) {
  const std::lock_guard lock(mutex_);
  if (last_user_ != nullptr && last_user_ != &communicator && last_.pending() != nullptr)
    communicator.queue().wait_for(last_);
  last_user_ = nullptr;
  last_ = start();
  last_user_ = &communicator;
  return last_;
}

void DeviceTurns::forget(const comm::Communicator* communicator) {
  const std::lock_guard lock(mutex_);
  if (last_user_ != communicator) return;
  last_user_ = nullptr;
  last_ = {};
}

OrderedCommunicator::Parts OrderedCommunicator::taken_apart(
    std::unique_ptr<comm::Communicator> communicator) {
  if (auto* ordered = dynamic_cast<OrderedCommunicator*>(communicator.get()))
    return {ordered->take_inner(), ordered->turns_};
  const bool is_of_device = record::moves_device_memory(std::string(communicator->backend()));
  return {std::move(communicator), is_of_device ? std::make_shared<DeviceTurns>() : nullptr};
}

OrderedCommunicator::OrderedCommunicator(std::unique_ptr<comm::Communicator> inner, ComputeQueue& compute)
    : OrderedCommunicator(taken_apart(std::move(inner)), compute) {}

OrderedCommunicator::OrderedCommunicator(Parts parts, ComputeQueue& compute)
    : ForwardingCommunicator(std::move(parts.inner)),
      compute_(compute),
      user_(&this->inner()),
      turns_(std::move(parts.turns)) {}

OrderedCommunicator::~OrderedCommunicator() {
  if (turns_ != nullptr) turns_->forget(user_);
}

std::unique_ptr<comm::Communicator> OrderedCommunicator::wrap(std::unique_ptr<comm::Communicator> made) {
  return std::unique_ptr<comm::Communicator>(new OrderedCommunicator({std::move(made), turns_}, compute_));
}

measure::Movement OrderedCommunicator::run(const comm::Operation& operation) {
  if (on_device(operation)) {
    compute_.wait_for(start(operation, {}));
    return {};
  }
  if (turns_ == nullptr) return inner().run(operation);
  measure::Movement movement;
  turns_->take(inner(), [&] {
    movement = inner().run(operation);
    return comm::Work();
  });
  return movement;
}

comm::Work OrderedCommunicator::start(const comm::Operation& operation, comm::Completion on_done) {
  const comm::Work computed = on_device(operation) ? compute_.mark() : comm::Work();
  if (on_device(operation)) inner().queue().wait_for(computed);
  if (turns_ == nullptr || is_recorded(computed)) return inner().start(operation, std::move(on_done));
  return turns_->take(inner(), [&] { return inner().start(operation, std::move(on_done)); });
}

}  // namespace lockstep::parallel
