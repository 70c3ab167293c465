#include "lockstep/comm/p2p/p2p_communicator.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/buffer_use.h"
#include "lockstep/comm/cuda/pause.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/stream_memory.h"

namespace lockstep::comm::p2p {
namespace {

using device::cuda::DeviceScope;

static_assert(kReduceOps == kReduceOpCount);

constexpr base::Nanoseconds kAbortPatience = std::chrono::seconds(5);

std::shared_ptr<P2pLink> make_words(const StreamPlace& place) {
  const DeviceScope scope(place.device);
  load_kernels();
  return std::make_shared<P2pLink>(place.group.rank, place.group.world, place.options.timeout);
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
    share_words();
    run(barrier());
  } catch (const std::exception& error) {
    words_->abort(error.what());
    abandon();
    throw;
  }
}

P2pCommunicator::~P2pCommunicator() {
  finish();
  if (words_->broken())
    abandon();
  else
    arenas_.close(place());
}

void P2pCommunicator::share_words() {
  std::unique_ptr<SharedWords> words = arenas_.take_words();
  if (words == nullptr) return;
  const DeviceScope scope(place().device);
  words_->share(std::move(words), arenas_.waiting() != Waiting::blocks, arenas_.shares_a_gpu());
}

// What kernels here or of peers may still use stays.
void P2pCommunicator::abandon() noexcept {
  if (!stream_is_idle()) words_->abandon();
  arenas_.abandon();
}

// Whether the kernels have left, as an abort makes them.
bool P2pCommunicator::stream_is_idle() noexcept {
  const base::Deadline deadline(kAbortPatience);
  Pause pause;
  while (cudaStreamQuery(stream_queue().stream()) == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    if (deadline.passed()) return false;
    words_->abort_again();
    pause();
  }
  return true;
}

Plan P2pCommunicator::plan_of(const Operation& operation) const {
  return plan_for(operation, group().world, arenas_.limits());
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
  if (arenas_.waiting() == Waiting::blocks)
    launch_kernel(task, choice, plan.blocks, stream_queue().stream());
  else
    issue_phases(task, plan, choice);
}

void P2pCommunicator::issue_phases(const Task& task, const Plan& plan, const KernelChoice& choice) {
  for (const Phase& phase : phases_of(plan.algorithm, choice.sends, plan.rounds)) {
    if (phase.waits != Meeting::none) wait_before(phase, task);
    launch_phase(task, phase, choice, plan.blocks, stream_queue().stream());
  }
}

void P2pCommunicator::wait_before(const Phase& phase, const Task& task) {
  const auto& met = task.ranks[task.rank].met[static_cast<std::size_t>(phase.waits)];
  std::vector<const std::uint32_t*> words;
  for (std::uint32_t peer = 0; peer < task.world; ++peer)
    if (is_of_message(phase.step) ? peer == task.root : peer != task.rank) words.push_back(&met[peer]);
  device::cuda::wait_for_words(words, kCame, stream_queue().stream());
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
  task.ranks = words_->ranks();
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
