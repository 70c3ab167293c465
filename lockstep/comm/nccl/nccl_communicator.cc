#include "lockstep/comm/nccl/nccl_communicator.h"

#include <fmt/format.h>

#include "lockstep/base/text.h"
#include "lockstep/comm/nccl/nccl_operations.h"
#include "lockstep/comm/nccl/pause.h"
#include "lockstep/comm/nccl/regroup.h"
#include "lockstep/comm/nccl/unique_id.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

using device::cuda::DeviceScope;
using device::cuda::Memory;
using device::cuda::MemoryKind;
using device::cuda::Stream;

std::shared_ptr<NcclHandle> open_handle(const NcclParts& parts, base::Deadline deadline) {
  const DeviceScope scope(parts.place.device);
  parts.process->transports.begin();
  separate_from_sharers(parts.group, parts.place);
  PrefixStore store(*parts.run_store, parts.prefix);
  const NcclHandleOptions options{agree_on_id(*parts.process->library, parts.group, store, deadline),
                                  parts.group.rank, parts.group.world};
  return std::make_shared<NcclHandle>(parts.process->library, options, deadline);
}

Stream make_stream(int device) {
  const DeviceScope scope(device);
  return Stream::make();
}

Memory make_token(int device) {
  const DeviceScope scope(device);
  Memory token(MemoryKind::device, sizeof(std::int32_t));
  device::cuda::check(cudaMemset(token.data(), 0, token.bytes()), "clearing a barrier's token");
  return token;
}

std::shared_ptr<OperationBoard> board_of(const OpenOptions& options) {
  return options.boards == nullptr ? nullptr : options.boards->add();
}

std::string link_name(const std::set<std::string>& transports) {
  if (transports.empty()) return "nccl";
  const std::vector<std::string> names(transports.begin(), transports.end());
  return "nccl:" + base::join(names, "+");
}

// What a wait on the stream looks after meanwhile.
std::function<void()> watch_of(const std::shared_ptr<FlightDeck>& deck) {
  return [deck] {
    deck->poll();
    deck->require_usable("what was on the stream");
  };
}

}  // namespace

NcclCommunicator::NcclCommunicator(NcclParts parts, base::Deadline deadline)
    : parts_(std::move(parts)),
      handle_(open_handle(parts_, deadline)),
      deck_(std::make_shared<FlightDeck>(handle_, parts_.group.rank, parts_.options.timeout,
                                         board_of(parts_.options))),
      queue_(make_stream(parts_.place.device), {parts_.options.timeout, watch_of(deck_)}),
      copy_stream_(make_stream(parts_.place.device)),
      token_(make_token(parts_.place.device)),
      staging_(queue_.stream(), [this] { queue_.drain(); }) {
  try {
    connect(deadline);
  } catch (const std::exception& error) {
    // Before the members go: freeing device memory waits for kernels, and only an abort ends those.
    handle_->abort(error.what());
    throw;
  }
}

// NCCL connects ranks when they first talk: doing so here keeps the connecting out of the first operation's
// time, and is when the log names the transport.
void NcclCommunicator::connect(base::Deadline deadline) {
  const DeviceScope scope(parts_.place.device);
  const Operation meeting = barrier();
  issue_operation(*handle_, meeting, {parts_.group, queue_.stream(), token_.data(), deadline});
  queue_.drain();
  link_ = link_name(parts_.process->transports.read_new());
}

NcclCommunicator::~NcclCommunicator() {
  try {
    if (!handle_->aborted()) queue_.drain();
  } catch (const std::exception& error) {
    handle_->abort(error.what());
  }
  handle_->close();
}

measure::Movement NcclCommunicator::run(const Operation& operation) {
  const std::shared_ptr<Flight> flight = launch(operation, {});
  deck_->add(flight);
  deck_->wait(*flight);
  return flight->movement;
}

Work NcclCommunicator::start(const Operation& operation, Completion on_done) {
  return deck_->add(launch(operation, std::move(on_done)));
}

std::shared_ptr<Flight> NcclCommunicator::launch(const Operation& operation, Completion on_done) {
  deck_->require_usable(describe(operation));
  validate(operation, group().rank, group().world);
  const DeviceScope scope(parts_.place.device);
  auto flight = std::make_shared<Flight>();
  flight->operation = operation;
  flight->on_done = std::move(on_done);
  flight->begin = queue_.events().take();
  flight->end = queue_.events().take();
  flight->movement = estimate(operation);
  deck_->announce(operation);
  flight->begin->record(queue_.stream());
  try {
    put_on_stream(operation, base::Deadline(parts_.options.timeout));
  } catch (const std::exception& error) {
    handle_->abort(error.what());
    throw;
  }
  flight->end->record(queue_.stream());
  return flight;
}

void NcclCommunicator::put_on_stream(const Operation& operation, base::Deadline deadline) {
  const Operation staged = staging_.enter(operation, group());
  issue_operation(*handle_, staged, {group(), queue_.stream(), token_.data(), deadline});
  staging_.leave(operation, staged, group());
}

measure::Movement NcclCommunicator::estimate(const Operation& operation) const {
  measure::Movement movement;
  movement.wire_bytes =
      measure::estimated_wire_bytes(operation.collective, payload_bytes(operation, group().world),
                                    group().world, operation.root == group().rank);
  movement.messages = movement.wire_bytes > 0 ? 1 : 0;
  movement.estimated = group().world > 1;
  return movement;
}

Allocation NcclCommunicator::allocate(std::size_t bytes) {
  const DeviceScope scope(parts_.place.device);
  auto memory = std::make_shared<Memory>(MemoryKind::device, bytes);
  void* data = memory->data();
  return {data, bytes, Place::device, [memory]() mutable { memory.reset(); }};
}

void NcclCommunicator::copy(const Buffer& to, const Buffer& from) {
  device::cuda::copy_on_stream(to.data, from.data, from.bytes, copy_stream_.get());
  device::cuda::check(cudaStreamSynchronize(copy_stream_.get()), "waiting for a copy");
}

std::unique_ptr<Communicator> NcclCommunicator::split(int colour, int key) {
  deck_->require_usable("split");
  const base::Deadline deadline(parts_.options.timeout);
  const std::string prefix = fmt::format("{}/split{}", parts_.prefix, splits_++);
  PrefixStore store(*parts_.run_store, prefix);
  const std::vector<SplitVote> votes = exchange_votes(group(), store, {colour, key, group().host}, deadline);
  const std::optional<Group> part = group_after(votes, group().rank);
  if (!part) return nullptr;
  NcclParts parts = parts_;
  parts.group = *part;
  parts.prefix = fmt::format("{}/colour{}", prefix, colour);
  return std::make_unique<NcclCommunicator>(std::move(parts), deadline);
}

std::unique_ptr<Communicator> NcclCommunicator::duplicate() {
  return split(0, group().rank);
}

void NcclCommunicator::abort(const std::string& reason) noexcept {
  handle_->abort(reason);
}

}  // namespace lockstep::comm
