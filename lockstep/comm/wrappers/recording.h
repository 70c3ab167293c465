// Records every operation into the ledger. It is around every communicator the registry hands out.
#pragma once

#include "lockstep/comm/wrappers/forwarding.h"
#include "lockstep/measure/ledger.h"

namespace lockstep::comm {

class RecordingCommunicator : public ForwardingCommunicator {
 public:
  RecordingCommunicator(std::unique_ptr<Communicator> inner, measure::Ledger& ledger);
  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;

 protected:
  std::unique_ptr<Communicator> wrap(std::unique_ptr<Communicator> made) override;

 private:
  measure::OperationFacts facts_of(const Operation& operation) const;

  measure::Ledger& ledger_;
  const int channel_;
};

}  // namespace lockstep::comm
