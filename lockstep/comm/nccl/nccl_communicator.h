// The communicator over NCCL: operations go on a CUDA stream of its own and are timed by events around them.
//
// Buffers on the device are used where they are. Host buffers pass through pinned memory (staging.h): right,
// but slower than a host backend. start() never waits for the device, except where staging must grow, and
// where NCCL connects to a peer for the first time. peer_wait is left at zero: NCCL does not tell when the
// last rank arrived, and asking would cost a barrier. Wire bytes and messages come from a formula
// (estimated).
#pragma once

#include <memory>
#include <set>
#include <string>

#include "lockstep/comm/backend.h"
#include "lockstep/comm/nccl/flight_deck.h"
#include "lockstep/comm/nccl/placement.h"
#include "lockstep/comm/nccl/staging.h"
#include "lockstep/comm/nccl/stream_queue.h"
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
  Group group;
  DevicePlace place;
  OpenOptions options;
  Store* run_store = nullptr;  // the run's; outlives every communicator
  std::string prefix;          // of this communicator's keys in it
};

class NcclCommunicator : public Communicator {
 public:
  // Collective.
  NcclCommunicator(NcclParts parts, base::Deadline deadline);
  ~NcclCommunicator() override;

  const Group& group() const override { return parts_.group; }
  std::string_view backend() const override { return "nccl"; }
  // "nccl:NET/Socket"; plain "nccl" for one rank and where NCCL does not say.
  std::string_view link() const override { return link_; }
  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;
  Queue& queue() override { return queue_; }
  Allocation allocate(std::size_t bytes) override;
  void copy(const Buffer& to, const Buffer& from) override;
  std::unique_ptr<Communicator> split(int colour, int key) override;
  std::unique_ptr<Communicator> duplicate() override;
  void abort(const std::string& reason) noexcept override;

 private:
  std::shared_ptr<Flight> launch(const Operation& operation, Completion on_done);
  void put_on_stream(const Operation& operation, base::Deadline deadline);
  measure::Movement estimate(const Operation& operation) const;
  void connect(base::Deadline deadline);

  NcclParts parts_;
  std::shared_ptr<NcclHandle> handle_;
  std::shared_ptr<FlightDeck> deck_;
  StreamQueue queue_;
  device::cuda::Stream copy_stream_;
  device::cuda::Memory token_;  // for barriers
  Staging staging_;
  std::string link_ = "nccl";
  int splits_ = 0;
};

}  // namespace lockstep::comm
