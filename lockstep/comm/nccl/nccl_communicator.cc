#include "lockstep/comm/nccl/nccl_communicator.h"

#include "lockstep/base/text.h"
#include "lockstep/comm/nccl/nccl_operations.h"
#include "lockstep/comm/nccl/shared_device.h"
#include "lockstep/comm/nccl/unique_id.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

using device::cuda::DeviceScope;
using device::cuda::Memory;
using device::cuda::MemoryKind;

std::shared_ptr<NcclHandle> open_handle(const NcclParts& parts, const StreamPlace& place,
                                        base::Deadline deadline) {
  const DeviceScope scope(place.device);
  parts.process->transports.begin();
  if (parts.some_share_device) adapt_to_shared_devices(place.group, parts.shares_device);
  PrefixStore store(*place.run_store, place.prefix);
  const NcclHandleOptions options{agree_on_id(*parts.process->library, place.group, store, deadline),
                                  place.group.rank, place.group.world};
  const CallOnBoard meeting(place.options.boards, "barrier", "nccl", place.options.timeout);
  return std::make_shared<NcclHandle>(parts.process->library, options, deadline);
}

Memory make_token(int device) {
  const DeviceScope scope(device);
  Memory token(MemoryKind::device, sizeof(std::int32_t));
  device::cuda::check(cudaMemset(token.data(), 0, token.bytes()), "clearing a barrier's token");
  return token;
}

std::string link_name(const std::set<std::string>& transports) {
  if (transports.empty()) return "nccl";
  const std::vector<std::string> names(transports.begin(), transports.end());
  return "nccl:" + base::join(names, "+");
}

}  // namespace

NcclCommunicator::NcclCommunicator(NcclParts parts, StreamPlace place, base::Deadline deadline)
    : NcclCommunicator(parts, place, open_handle(parts, place, deadline), deadline) {}

NcclCommunicator::NcclCommunicator(NcclParts parts, StreamPlace place, std::shared_ptr<NcclHandle> handle,
                                   base::Deadline deadline)
    : StreamCommunicator(std::move(place), handle),
      parts_(std::move(parts)),
      handle_(std::move(handle)),
      token_(make_token(this->place().device)) {
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
  const DeviceScope scope(place().device);
  const Operation meeting = barrier();
  issue_operation(*handle_, meeting, {group(), stream_queue().stream(), token_.data(), deadline});
  stream_queue().drain();
  link_name_ = link_name(parts_.process->transports.read_new());
}

NcclCommunicator::~NcclCommunicator() {
  finish();
  handle_->close();
}

void NcclCommunicator::issue(const Operation& operation, Flight&) {
  const base::Deadline deadline(place().options.timeout);
  issue_operation(*handle_, operation, {group(), stream_queue().stream(), token_.data(), deadline});
}

measure::Movement NcclCommunicator::movement_of(const Operation& operation) const {
  measure::Movement movement;
  movement.wire_bytes =
      measure::estimated_wire_bytes(operation.collective, payload_bytes(operation, group().world),
                                    group().world, operation.root == group().rank);
  movement.messages = movement.wire_bytes > 0 ? 1 : 0;
  movement.estimated = group().world > 1;
  movement.peer_wait_known = group().world == 1;
  return movement;
}

std::unique_ptr<Communicator> NcclCommunicator::open_at(StreamPlace place, base::Deadline deadline) const {
  return std::make_unique<NcclCommunicator>(parts_, std::move(place), deadline);
}

}  // namespace lockstep::comm
