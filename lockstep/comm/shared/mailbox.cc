// Send and receive: one mailbox a direction and pair. A message the receiver can reach is copied by it from
// where it lies; any other passes through the mailbox's two halves, and the sender of one that fits into them
// does not wait for the receiver. `posted` counts halves filled, `taken` halves emptied.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/comm/shared/exchange.h"

namespace lockstep::comm::shared {
namespace {

// How a message of `bytes` is cut into pieces that fit into a half.
struct Cut {
  std::size_t bytes;
  std::size_t half_bytes;

  std::size_t pieces() const { return std::max<std::size_t>(1, (bytes + half_bytes - 1) / half_bytes); }
  Part piece(std::size_t k) const {
    const std::size_t begin = k * half_bytes;
    return {begin, std::min(half_bytes, bytes - begin)};
  }
};

}  // namespace

void Exchange::send() {
  Mailbox& box = block().mailbox(rank(), operation_.root);
  const Cut cut{operation_.input.bytes, block().half_bytes()};
  const std::uint32_t first = box.posted.load(std::memory_order_relaxed);
  const bool in_place = cut.pieces() > 2 || on_device();
  const Address source = in_place ? channel_.fabric_->address_of(operation_.input) : Address{};
  channel_.waiter_.wait(box.taken, box.taken_sleepers,
                        first);  // the message before this one is out of the way
  box.message_bytes = cut.bytes;
  box.type = operation_.type();
  box.source = source;
  const std::size_t halves = source.reachable() ? 1 : cut.pieces();
  for (std::size_t k = 0; k < halves; ++k) {
    const auto number = first + static_cast<std::uint32_t>(k);
    if (!source.reachable()) {
      if (k >= 2) channel_.waiter_.wait(box.taken, box.taken_sleepers, number - 1);
      copy_own(block().mailbox_half(rank(), operation_.root, k), input() + cut.piece(k).offset_bytes,
               cut.piece(k).bytes);
    }
    publish(box.posted, box.posted_sleepers, number + 1);
  }
  // A short message is in the box, and the sender may go on; a long one must have been fetched.
  if (source.reachable() || halves > 2)
    channel_.waiter_.wait(box.taken, box.taken_sleepers, first + static_cast<std::uint32_t>(halves));
  count(cut.bytes);
}

void Exchange::receive() {
  const int from = operation_.root;
  Mailbox& box = block().mailbox(from, rank());
  const Cut cut{operation_.output.bytes, block().half_bytes()};
  const std::uint32_t first = box.taken.load(std::memory_order_relaxed);
  const base::TimePoint before = base::now();
  channel_.waiter_.wait(box.posted, box.posted_sleepers, first + 1);
  movement_.peer_wait = base::now() - before;
  if (box.message_bytes != cut.bytes || box.type != operation_.type())
    throw base::CommError(
        base::CommError::Kind::disagreement,
        fmt::format("rank {} is in {}, but rank {} sends {} bytes of {}", rank(), comm::describe(operation_),
                    from, box.message_bytes, name_of(box.type)));
  if (box.source.reachable()) {
    copy_own(output(), channel_.fabric_->resolve(from, box.source), cut.bytes);
    hands_.finish();
    publish(box.taken, box.taken_sleepers, first + 1);
    return;
  }
  for (std::size_t k = 0; k < cut.pieces(); ++k) {
    const auto number = first + static_cast<std::uint32_t>(k);
    channel_.waiter_.wait(box.posted, box.posted_sleepers, number + 1);
    copy_own(output() + cut.piece(k).offset_bytes, block().mailbox_half(from, rank(), k), cut.piece(k).bytes);
    publish(box.taken, box.taken_sleepers, number + 1);
  }
}

}  // namespace lockstep::comm::shared
