#include "lockstep/comm/host_communicator.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep::comm {

namespace {

Allocation map_private(std::size_t bytes, int extra_flags) {
  if (bytes == 0) return {nullptr, 0, Place::host, {}};
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | extra_flags, -1, 0);
  if (memory == MAP_FAILED)
    throw base::CommError(base::CommError::Kind::failed,
                          fmt::format("cannot allocate a buffer of {} bytes: {}", bytes, base::errno_text()));
  return {memory, bytes, Place::host, [memory, bytes] { ::munmap(memory, bytes); }};
}

}  // namespace

Allocation allocate_host(std::size_t bytes) {
  return map_private(bytes, MAP_POPULATE);
}
Allocation reserve_host(std::size_t bytes) {
  return map_private(bytes, MAP_NORESERVE);
}

Allocation Channel::allocate(std::size_t bytes, base::Deadline) {
  return allocate_host(bytes);
}

void Channel::copy(const Buffer& to, const Buffer& from) {
  std::memcpy(to.data, from.data, from.bytes);
}

HostCommunicator::HostCommunicator(std::unique_ptr<Channel> channel, base::Nanoseconds timeout,
                                   OperationBoards* boards)
    : channel_(std::move(channel)),
      timeout_(timeout),
      boards_(boards),
      board_(boards ? boards->add() : nullptr) {}

HostCommunicator::~HostCommunicator() = default;

measure::Movement HostCommunicator::run(const Operation& operation) {
  queue_.drain();
  return execute(operation);
}

Work HostCommunicator::start(const Operation& operation, Completion on_done) {
  return queue_.put([this, operation, on_done = std::move(on_done)] {
    const measure::Movement movement = execute(operation);
    if (on_done) on_done(movement);
  });
}

measure::Movement HostCommunicator::execute(const Operation& operation) {
  if (failed_.load(std::memory_order_relaxed))
    throw base::CommError(
        base::CommError::Kind::collateral,
        fmt::format("rank {}: {} was not begun: an earlier operation of this communicator failed",
                    group().rank, describe(operation)));
  validate(operation, group().rank, group().world);
  try {
    return execute_watched(operation, base::now());
  } catch (...) {
    failed_.store(true, std::memory_order_relaxed);
    throw;
  }
}

measure::Movement HostCommunicator::execute_watched(const Operation& operation, base::TimePoint start) {
  if (board_ != nullptr) board_->begin(operation, backend(), start, timeout_);
  measure::Movement movement = channel_->execute(operation, base::Deadline(start, timeout_));
  const base::TimePoint end = base::now();
  if (board_ != nullptr) board_->end(end);
  movement.busy = end - start;
  return movement;
}

Allocation HostCommunicator::allocate(std::size_t bytes) {
  queue_.drain();
  return channel_->allocate(bytes, base::Deadline(timeout_));
}

void HostCommunicator::copy(const Buffer& to, const Buffer& from) {
  channel_->copy(to, from);
}

std::unique_ptr<Communicator> HostCommunicator::split(int colour, int key) {
  queue_.drain();
  std::unique_ptr<Channel> part = channel_->split(colour, key, base::Deadline(timeout_));
  if (part == nullptr) return nullptr;
  return std::make_unique<HostCommunicator>(std::move(part), timeout_, boards_);
}

std::unique_ptr<Communicator> HostCommunicator::duplicate() {
  return split(0, group().rank);
}

void HostCommunicator::abort(const std::string&) noexcept {
  failed_.store(true, std::memory_order_relaxed);
  channel_->abort();
}

}  // namespace lockstep::comm
