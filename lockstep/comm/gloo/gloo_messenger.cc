#include "lockstep/comm/gloo/gloo_messenger.h"

#include <fmt/format.h>
#include <gloo/common/error.h>

namespace lockstep::comm {
namespace {

using base::CommError;

// Other ranks may not take part in it, so it cannot count as one of the operations all ranks number alike.
bool is_one_sided(const Operation& operation) {
  return operation.collective == Collective::send || operation.collective == Collective::receive;
}

bool is_timeout(const std::string& cause) {
  return cause.find("Timed out") != std::string::npos || cause.find("timeout") != std::string::npos;
}

}  // namespace

GlooMessenger::GlooMessenger(std::shared_ptr<gloo::Context> context,
                             std::shared_ptr<gloo::transport::tcp::Device> device)
    : context_(std::move(context)),
      poster_(std::move(device),
              [this](const Posting& posting, const std::string& cause) { refused(posting, cause); }),
      lost_(static_cast<std::size_t>(context_->size)) {}

GlooMessenger::~GlooMessenger() = default;

void GlooMessenger::begin(const Operation& operation, base::Deadline deadline) {
  operation_ = &operation;
  deadline_ = deadline;
  if (!is_one_sided(operation)) ++operations_;
}

void GlooMessenger::end() {
  operation_ = nullptr;
  poster_.clear();
  const std::lock_guard lock(mutex_);
  messages_.clear();
}

int GlooMessenger::start_send(int peer, const void* data, std::size_t bytes) {
  return start(peer, const_cast<void*>(data), bytes, false);
}

int GlooMessenger::start_receive(int peer, void* data, std::size_t bytes) {
  return start(peer, data, bytes, true);
}

int GlooMessenger::start(int peer, void* data, std::size_t bytes, bool receives) {
  std::unique_ptr<UnboundBuffer> buffer = context_->createUnboundBuffer(data, bytes);
  poster_.add({buffer.get(), peer, slot_for(bytes), bytes, receives});
  return add(std::move(buffer), peer);
}

int GlooMessenger::add(std::unique_ptr<UnboundBuffer> buffer, int peer) {
  const std::lock_guard lock(mutex_);
  std::size_t place = 0;
  while (place < messages_.size() && messages_[place].buffer != nullptr) ++place;
  if (place == messages_.size()) messages_.emplace_back();
  messages_[place] = {std::move(buffer), peer};
  if (is_lost(peer)) interrupt(messages_[place]);
  return static_cast<int>(place);
}

void GlooMessenger::finish(const Ticket& ticket) {
  poster_.flush();
  UnboundBuffer* buffer = nullptr;
  int peer = -1;
  {
    const std::lock_guard lock(mutex_);
    const Message& message = messages_[static_cast<std::size_t>(ticket.number)];
    buffer = message.buffer.get();
    peer = message.peer;
  }
  try {
    const std::chrono::milliseconds left(deadline_.left_milliseconds());
    const bool arrived = ticket.receives ? buffer->waitRecv(left) : buffer->waitSend(left);
    if (!arrived) fail(peer, "the connection was closed");
  } catch (const gloo::Exception& error) {
    fail(peer, error.what());
  }
  const std::lock_guard lock(mutex_);
  messages_[static_cast<std::size_t>(ticket.number)].buffer.reset();
}

void GlooMessenger::interrupt(const Message& message) noexcept {
  if (message.buffer == nullptr) return;
  message.buffer->abortWaitRecv();
  message.buffer->abortWaitSend();
}

void GlooMessenger::refused(const Posting& posting, const std::string& cause) {
  const std::lock_guard lock(mutex_);
  refusal_ = cause;
  for (const Message& message : messages_)
    if (message.buffer.get() == posting.buffer) interrupt(message);
}

void GlooMessenger::lose(int peer) noexcept {
  const std::lock_guard lock(mutex_);
  lost_[static_cast<std::size_t>(peer)] = true;
  for (const Message& message : messages_)
    if (message.peer == peer) interrupt(message);
}

void GlooMessenger::abort() noexcept {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  for (const Message& message : messages_) interrupt(message);
}

void GlooMessenger::fail(int peer, const std::string& cause) const {
  const std::string where =
      fmt::format("rank {}: {} over gloo", rank(), operation_ ? describe(*operation_) : "an operation");
  std::string detail = cause;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_)
      throw CommError(CommError::Kind::collateral, where + " was given up because the run is ending");
    if (!refusal_.empty()) detail = refusal_;
  }
  if (deadline_.passed() || is_timeout(cause))
    throw CommError(
        CommError::Kind::timed_out,
        fmt::format("{}: nothing came from rank {} until the deadline. It is stopped, slower than "
                    "the timeout allows, or at another operation",
                    where, peer));
  throw CommError(
      CommError::Kind::peer_lost,
      fmt::format("{}: the connection to rank {} broke, most likely because that rank ended; look "
                  "at its log first ({})",
                  where, peer, detail));
}

std::uint64_t GlooMessenger::slot_for(std::size_t bytes) const {
  // 40 bits of size, 4 of collective, 4 of type, 16 of the operation's number. Operations of one
  // communicator follow each other, so numbers that repeat after 65536 are never under way together.
  constexpr std::uint64_t kSizeMask = (std::uint64_t{1} << 40) - 1;
  const bool one_sided = is_one_sided(*operation_);
  const Collective name = one_sided ? Collective::send : operation_->collective;
  const std::uint64_t number = one_sided ? 0 : operations_ & 0xffff;
  return number << 48 | static_cast<std::uint64_t>(name) << 44 |
         static_cast<std::uint64_t>(operation_->type()) << 40 | (bytes & kSizeMask);
}

}  // namespace lockstep::comm
