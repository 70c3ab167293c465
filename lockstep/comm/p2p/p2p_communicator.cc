#include "lockstep/comm/p2p/p2p_communicator.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/buffer_use.h"
#include "lockstep/comm/cuda/pause.h"
#include "lockstep/device/cuda/cuda_device.h"

namespace lockstep::comm::p2p {
namespace {

using device::cuda::DeviceScope;

static_assert(kReduceOps == kReduceOpCount);

constexpr base::Nanoseconds kAbortPatience = std::chrono::seconds(5);

std::shared_ptr<P2pLink> make_words(const StreamPlace& place) {
  const DeviceScope scope(place.device);
  load_kernels();
  return std::make_shared<P2pLink>(place.group.rank, place.options.timeout);
}

// A kernel gives up a little before the host would: it knows which peer is missing.
std::uint64_t kernel_timeout(base::Nanoseconds timeout) {
  const base::Nanoseconds margin = std::min<base::Nanoseconds>(timeout / 10, std::chrono::seconds(1));
  return static_cast<std::uint64_t>(
      std::max<base::Nanoseconds>(timeout - margin, std::chrono::milliseconds(1)).count());
}

}  // namespace

P2pCommunicator::P2pCommunicator(StreamPlace place, std::uint64_t process, base::Deadline deadline)
    : P2pCommunicator(place, process, make_words(place), deadline) {}

// The first meeting shows that every rank reaches every other, before anything relies on it.
P2pCommunicator::P2pCommunicator(StreamPlace place, std::uint64_t process, std::shared_ptr<P2pLink> words,
                                 base::Deadline deadline)
    : StreamCommunicator(std::move(place), words),
      process_(process),
      words_(std::move(words)),
      arenas_(this->place(), process, deadline) {
  try {
    run(barrier());
  } catch (const std::exception& error) {
    words_->abort(error.what());
    static_cast<void>(stream_is_idle());
    arenas_.abandon();
    throw;
  }
}

P2pCommunicator::~P2pCommunicator() {
  finish();
  if (words_->broken()) {
    static_cast<void>(stream_is_idle());  // the kernels' words go with this object
    arenas_.abandon();
  } else {
    arenas_.close(place());
  }
}

// Whether the kernels have left, as an abort makes them.
bool P2pCommunicator::stream_is_idle() noexcept {
  const base::Deadline deadline(kAbortPatience);
  Pause pause;
  while (cudaStreamQuery(stream_queue().stream()) == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    if (deadline.passed()) return false;
    pause();
  }
  return true;
}

Plan P2pCommunicator::plan_of(const Operation& operation) const {
  return plan_for(operation, group().world, arenas_.most_blocks());
}

void P2pCommunicator::issue(const Operation& operation, Flight& flight) {
  if (group().world == 1) return copy_alone(operation);
  if (!needs_kernel(operation, group().world)) return;
  const Plan plan = plan_of(operation);
  Task task = task_for(operation, plan);
  task.first_wait = words_->next_note();
  flight.peer_wait = [words = words_, note = task.first_wait] {
    return base::Nanoseconds(
        static_cast<std::int64_t>(std::atomic_ref(*note).load(std::memory_order_acquire)));
  };
  const KernelChoice choice{operation.type(), static_cast<std::uint32_t>(operation.reduce_op),
                            operation.collective == Collective::send};
  launch_kernel(task, choice, plan.blocks, stream_queue().stream());
}

Task P2pCommunicator::task_for(const Operation& operation, const Plan& plan) const {
  Task task{};
  for (int rank = 0; rank < group().world; ++rank) {
    task.arenas[rank] = arenas_.of(rank);
    if (!has_parts(plan.algorithm)) continue;
    const Part part = part_of(operation, rank, group().world);
    task.part_offset[rank] = part.offset_bytes;
    task.part_bytes[rank] = part.bytes;
  }
  if (!has_parts(plan.algorithm)) task.part_bytes[0] = payload_bytes(operation, group().world);
  task.input = static_cast<const std::byte*>(operation.input.data);
  task.output = static_cast<std::byte*>(operation.output.data);
  task.words = words_->words();
  task.timeout = kernel_timeout(place().options.timeout);
  task.piece_bytes = plan.piece_bytes;
  task.rounds = plan.rounds;
  task.signature = plan.signature;
  task.algorithm = plan.algorithm;
  task.rank = static_cast<std::uint32_t>(group().rank);
  task.world = static_cast<std::uint32_t>(group().world);
  task.root = static_cast<std::uint32_t>(operation.root);
  return task;
}

// One rank's sum, mean, largest and smallest are its input, and its part is the whole.
void P2pCommunicator::copy_alone(const Operation& operation) {
  if (!reads_input(operation, 0) || !writes_output(operation, 0)) return;
  device::cuda::copy_on_stream(operation.output.data, operation.input.data, operation.output.bytes,
                               stream_queue().stream());
}

measure::Movement P2pCommunicator::movement_of(const Operation& operation) const {
  measure::Movement movement;
  if (!needs_kernel(operation, group().world)) return movement;
  const Plan plan = plan_of(operation);
  movement.wire_bytes = wire_bytes(plan, operation, group().rank, group().world);
  movement.messages = messages(plan, operation, group().rank, group().world);
  return movement;
}

std::unique_ptr<Communicator> P2pCommunicator::open_at(StreamPlace place, base::Deadline deadline) const {
  return std::make_unique<P2pCommunicator>(std::move(place), process_, deadline);
}

}  // namespace lockstep::comm::p2p
