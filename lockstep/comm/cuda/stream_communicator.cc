#include "lockstep/comm/cuda/stream_communicator.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/regroup.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

using device::cuda::DeviceScope;
using device::cuda::Event;
using device::cuda::Graph;
using device::cuda::Memory;
using device::cuda::MemoryKind;
using device::cuda::Stream;

Stream make_stream(int device) {
  const DeviceScope scope(device);
  return Stream::make();
}

std::shared_ptr<OperationBoard> board_of(const OpenOptions& options) {
  return options.boards == nullptr ? nullptr : options.boards->add();
}

// What a wait on the stream looks after meanwhile.
std::function<void()> watch_of(const std::shared_ptr<FlightDeck>& deck) {
  return [deck] {
    deck->poll();
    deck->require_usable("what was on the stream");
  };
}

void require_on_device(const Operation& operation) {
  if (operation.input.place == Place::device && operation.output.place == Place::device) return;
  throw base::DeviceError(
      fmt::format("{} uses memory of the host, which a recording cannot", describe(operation)));
}

// A place in a recording: others can be ordered after it, but it never happens by itself.
class RecordedWork : public Pending {
 public:
  explicit RecordedWork(std::shared_ptr<Event> event) : event_(std::move(event)) {}
  bool done() const override { return false; }
  void wait() override { throw base::DeviceError("an operation was waited for while it was recorded"); }
  void* device_event() const override { return event_->get(); }

 private:
  std::shared_ptr<Event> event_;
};

struct RunEvents {
  std::shared_ptr<Event> begin, end, over;
};

std::shared_ptr<Flight> again(const Flight& recorded, RunEvents events) {
  auto flight = std::make_shared<Flight>();
  flight->operation = recorded.operation;
  flight->on_done = recorded.on_done;
  flight->begin = std::move(events.begin);
  flight->end = std::move(events.end);
  flight->over = std::move(events.over);
  flight->movement = recorded.movement;
  flight->peer_wait = recorded.peer_wait;
  return flight;
}

}  // namespace

StreamCommunicator::StreamCommunicator(StreamPlace place, std::shared_ptr<DeviceLink> link)
    : place_(std::move(place)),
      link_(std::move(link)),
      gate_(std::make_shared<HostGate>()),
      deck_(std::make_shared<FlightDeck>(link_, gate_, place_.group.rank, place_.options.timeout,
                                         board_of(place_.options))),
      queue_(make_stream(place_.device), {place_.options.timeout, watch_of(deck_)}),
      copy_stream_(make_stream(place_.device)),
      staging_(queue_.stream(), gate_, [this] { queue_.drain(); }) {}

void StreamCommunicator::finish() noexcept {
  try {
    if (!link_->aborted()) queue_.drain();
  } catch (const std::exception& error) {
    link_->abort(error.what());
  }
  gate_->close();
}

measure::Movement StreamCommunicator::run(const Operation& operation) {
  const std::shared_ptr<Flight> flight = launch(operation, {});
  deck_->add(flight);
  deck_->wait(*flight);
  return flight->movement;
}

Work StreamCommunicator::start(const Operation& operation, Completion on_done) {
  if (Graph* const graph = queue_.recording()) return record(*graph, operation, std::move(on_done));
  return deck_->add(launch(operation, std::move(on_done)));
}

std::shared_ptr<Flight> StreamCommunicator::flight_of(const Operation& operation, Completion on_done) {
  deck_->require_usable(describe(operation));
  validate(operation, group().rank, group().world);
  auto flight = std::make_shared<Flight>();
  flight->operation = operation;
  flight->on_done = std::move(on_done);
  flight->begin = queue_.events().take();
  flight->end = flight->over = queue_.events().take();
  flight->movement = movement_of(operation);
  return flight;
}

std::shared_ptr<Flight> StreamCommunicator::launch(const Operation& operation, Completion on_done) {
  const DeviceScope scope(place_.device);
  std::shared_ptr<Flight> flight = flight_of(operation, std::move(on_done));
  deck_->announce(operation);
  flight->begin->record(queue_.stream());
  try {
    put_on_stream(operation, *flight);
  } catch (const std::exception& error) {
    link_->abort(error.what());
    gate_->close();
    throw;
  }
  flight->end->record(queue_.stream());
  return flight;
}

// Nothing runs yet and no event may be asked for. In a run, what else is put on this stream comes after the
// whole of it: the stream itself does not know that the device uses its communicator.
Work StreamCommunicator::record(Graph& graph, const Operation& operation, Completion on_done) {
  require_on_device(operation);
  const DeviceScope scope(place_.device);
  const std::shared_ptr<Flight> flight = flight_of(operation, std::move(on_done));
  auto begin = std::make_shared<std::shared_ptr<Event>>();
  auto end = std::make_shared<std::shared_ptr<Event>>();
  graph.time(queue_.stream(), [begin](std::shared_ptr<Event> event) { *begin = std::move(event); });
  put_on_stream(operation, *flight);
  graph.time(queue_.stream(), [end](std::shared_ptr<Event> event) { *end = std::move(event); });
  flight->end->record(queue_.stream());
  graph.at_every_run(
      [deck = deck_, stream = queue_.stream(), flight, begin, end](const std::shared_ptr<Event>& over) {
        deck->add(again(*flight, {*begin, *end, over}));
        Stream::borrow(stream).wait_for(over->get());
      });
  return Work(std::make_shared<RecordedWork>(flight->end));
}

void StreamCommunicator::put_on_stream(const Operation& operation, Flight& flight) {
  const Operation staged = staging_.enter(operation, group());
  issue(staged, flight);
  staging_.leave(operation, staged, group());
}

Allocation StreamCommunicator::allocate(std::size_t bytes) {
  const DeviceScope scope(place_.device);
  auto memory = std::make_shared<Memory>(MemoryKind::device, bytes);
  void* data = memory->data();
  return {data, bytes, Place::device, [memory]() mutable { memory.reset(); }};
}

void StreamCommunicator::copy(const Buffer& to, const Buffer& from) {
  device::cuda::copy_on_stream(to.data, from.data, from.bytes, copy_stream_.get());
  device::cuda::check(cudaStreamSynchronize(copy_stream_.get()), "waiting for a copy");
}

std::unique_ptr<Communicator> StreamCommunicator::split(int colour, int key) {
  deck_->require_usable("split");
  const base::Deadline deadline(place_.options.timeout);
  const std::string prefix = fmt::format("{}/split{}", place_.prefix, splits_++);
  PrefixStore store(*place_.run_store, prefix);
  const std::vector<SplitVote> votes = exchange_votes(group(), store, {colour, key, group().host}, deadline);
  const std::optional<Group> part = group_after(votes, group().rank);
  if (!part) return nullptr;
  StreamPlace place = place_;
  place.group = *part;
  place.prefix = fmt::format("{}/colour{}", prefix, colour);
  return open_at(std::move(place), deadline);
}

}  // namespace lockstep::comm
