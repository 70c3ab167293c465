#include "lockstep/comm/wrappers/recording.h"

namespace lockstep::comm {

RecordingCommunicator::RecordingCommunicator(std::unique_ptr<Communicator> inner, measure::Ledger& ledger)
    : ForwardingCommunicator(std::move(inner)), ledger_(ledger) {}

measure::Movement RecordingCommunicator::run(const Operation& operation) {
  const measure::Movement movement = inner().run(operation);
  ledger_.add(operation.purpose, operation.collective, link(), payload_bytes(operation, group().world),
              movement);
  return movement;
}

Work RecordingCommunicator::start(const Operation& operation, Completion on_done) {
  const std::uint64_t payload = payload_bytes(operation, group().world);
  auto record = [this, purpose = operation.purpose, collective = operation.collective, payload,
                 on_done = std::move(on_done)](const measure::Movement& movement) {
    ledger_.add(purpose, collective, link(), payload, movement);
    if (on_done) on_done(movement);
  };
  return inner().start(operation, std::move(record));
}

std::unique_ptr<Communicator> RecordingCommunicator::wrap(std::unique_ptr<Communicator> made) {
  return std::make_unique<RecordingCommunicator>(std::move(made), ledger_);
}

}  // namespace lockstep::comm
