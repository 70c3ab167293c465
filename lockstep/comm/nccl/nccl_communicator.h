// The communicator over NCCL.
//
// start() waits for the device only where staging must grow, and where NCCL connects to a peer for the first
// time. peer_wait is unknown: NCCL does not tell when the last rank arrived, and asking would cost a barrier.
// Wire bytes and messages come from a formula (estimated).
#pragma once

#include <memory>
#include <set>
#include <string>

#include "lockstep/comm/cuda/stream_communicator.h"
#include "lockstep/comm/nccl/nccl_handle.h"
#include "lockstep/comm/nccl/transport_log.h"

namespace lockstep::comm {

// What all NCCL communicators of a process share.
struct NcclProcess {
  std::shared_ptr<const NcclLibrary> library;
  TransportLog transports;
};

// What one communicator is made of.
struct NcclParts {
  std::shared_ptr<NcclProcess> process;
  bool shares_device = false;      // with another rank of the run
  bool some_share_device = false;  // some ranks of the run do, this one or others
};

class NcclCommunicator : public StreamCommunicator {
 public:
  // Collective.
  NcclCommunicator(NcclParts parts, StreamPlace place, base::Deadline deadline);
  ~NcclCommunicator() override;

  // "nccl:NET/Socket"; plain "nccl" for one rank and where NCCL does not say.
  std::string_view link() const override { return link_name_; }
  bool shares_device() const override { return parts_.some_share_device; }

 protected:
  void issue(const Operation& operation, Flight& flight) override;
  measure::Movement movement_of(const Operation& operation) const override;
  std::unique_ptr<Communicator> open_at(StreamPlace place, base::Deadline deadline) const override;

 private:
  NcclCommunicator(NcclParts parts, StreamPlace place, std::shared_ptr<NcclHandle> handle,
                   base::Deadline deadline);
  void connect(base::Deadline deadline);

  NcclParts parts_;
  std::shared_ptr<NcclHandle> handle_;
  device::cuda::Memory token_;  // for barriers
  std::string link_name_ = "nccl";
};

}  // namespace lockstep::comm
