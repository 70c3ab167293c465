// What all communicators on CUDA streams do alike: operations go on a stream of the communicator's own and
// are timed by events around them; start() never waits for the device, except where staging must grow.
// An operation that is started after an event of a recording (a CUDA graph) becomes part of it, and is in
// flight anew in every run of it.
//
// Buffers on the device are used where they are. Host buffers pass through pinned memory (staging.h): right,
// but slower than a host backend. A backend adds how one operation is put on the stream, and what it moves.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lockstep/comm/backend.h"
#include "lockstep/comm/cuda/device_link.h"
#include "lockstep/comm/cuda/flight_deck.h"
#include "lockstep/comm/cuda/staging.h"
#include "lockstep/comm/cuda/stream_queue.h"

namespace lockstep::comm {

// Where a communicator stands.
struct StreamPlace {
  Group group;
  int device = 0;
  OpenOptions options;
  Store* run_store = nullptr;  // the run's; outlives every communicator
  std::string prefix;          // of this communicator's keys in it
};

class StreamCommunicator : public Communicator {
 public:
  const Group& group() const override { return place_.group; }
  std::string_view backend() const override { return link_->backend_name(); }
  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;
  Queue& queue() override { return queue_; }
  Allocation allocate(std::size_t bytes) override;
  void copy(const Buffer& to, const Buffer& from) override;
  std::unique_ptr<Communicator> split(int colour, int key) override;
  std::unique_ptr<Communicator> duplicate() override { return split(0, group().rank); }
  void abort(const std::string& reason) noexcept override { link_->abort(reason); }

 protected:
  StreamCommunicator(StreamPlace place, std::shared_ptr<DeviceLink> link);

  // Puts one valid operation, whose buffers are all on the device, on the stream. The device is current.
  virtual void issue(const Operation& operation, Flight& flight) = 0;
  // What the operation moves for this rank.
  virtual measure::Movement movement_of(const Operation& operation) const = 0;
  // Collective: a communicator of the same kind elsewhere.
  virtual std::unique_ptr<Communicator> open_at(StreamPlace place, base::Deadline deadline) const = 0;

  // For destructors: lets what is on the stream end, aborts what does not, and closes the gate.
  void finish() noexcept;

  const StreamPlace& place() const { return place_; }
  StreamQueue& stream_queue() { return queue_; }

 private:
  std::shared_ptr<Flight> launch(const Operation& operation, Completion on_done);
  std::shared_ptr<Flight> flight_of(const Operation& operation, Completion on_done);
  Work record(device::cuda::Graph& graph, const Operation& operation, Completion on_done);
  void put_on_stream(const Operation& operation, Flight& flight);

  StreamPlace place_;
  std::shared_ptr<DeviceLink> link_;
  std::shared_ptr<HostGate> gate_;
  std::shared_ptr<FlightDeck> deck_;
  StreamQueue queue_;
  device::cuda::Stream copy_stream_;
  Staging staging_;
  int splits_ = 0;
};

}  // namespace lockstep::comm
