#include "lockstep/comm/wrappers/recording.h"

namespace lockstep::comm {

RecordingCommunicator::RecordingCommunicator(std::unique_ptr<Communicator> inner, measure::Ledger& ledger)
    : ForwardingCommunicator(std::move(inner)), ledger_(ledger), channel_(ledger.new_channel()) {}

measure::OperationFacts RecordingCommunicator::facts_of(const Operation& operation) const {
  measure::OperationFacts facts;
  facts.purpose = operation.purpose;
  facts.collective = operation.collective;
  facts.link = link();
  facts.payload_bytes = payload_bytes(operation, group().world);
  facts.element_type = name_of(operation.type());
  facts.input_elements = operation.input.count();
  facts.output_elements = operation.output.count();
  facts.ranks = group().world;
  facts.channel = channel_;
  return facts;
}

measure::Movement RecordingCommunicator::run(const Operation& operation) {
  const measure::Movement movement = inner().run(operation);
  ledger_.add(facts_of(operation), movement);
  return movement;
}

Work RecordingCommunicator::start(const Operation& operation, Completion on_done) {
  auto record = [this, facts = facts_of(operation),
                 on_done = std::move(on_done)](const measure::Movement& movement) {
    ledger_.add(facts, movement);
    if (on_done) on_done(movement);
  };
  return inner().start(operation, std::move(record));
}

std::unique_ptr<Communicator> RecordingCommunicator::wrap(std::unique_ptr<Communicator> made) {
  return std::make_unique<RecordingCommunicator>(std::move(made), ledger_);
}

}  // namespace lockstep::comm
