#include "lockstep/comm/shared/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep::comm::shared {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

// What all ranks must agree on, in one word.
std::uint64_t signature_of(const Descriptor& d) {
  std::uint64_t hash =
      mix(d.sequence, static_cast<std::uint64_t>(d.collective) << 32 | static_cast<std::uint64_t>(d.type));
  hash = mix(hash, static_cast<std::uint64_t>(d.reduce_op) << 32 | static_cast<std::uint32_t>(d.root));
  return mix(mix(hash, d.payload_bytes), d.counts_hash);
}

// Without the number of the operation: the channel counts some of its own among them, and the run's server
// adds the number that the rank itself would name.
std::string describe(const Descriptor& d) {
  Operation operation;
  operation.collective = d.collective;
  operation.reduce_op = d.reduce_op;
  operation.root = d.root;
  operation.input = {nullptr, d.payload_bytes, d.type, Place::host};
  return comm::describe(operation);
}

// "all_reduce (sum) of 10 f32", and how far it is ahead where that is all that differs.
std::string describe_beside(const Descriptor& d, const Descriptor& other) {
  if (d.sequence <= other.sequence) return describe(d);
  return fmt::format("{}, {} operations further", describe(d), d.sequence - other.sequence);
}

}  // namespace

Part work_share(std::size_t bytes, int rank, int world) {
  const std::size_t lines = (bytes + kLine - 1) / kLine;
  const auto n = static_cast<std::size_t>(world);
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t begin = std::min(bytes, lines * r / n * kLine);
  const std::size_t end = std::min(bytes, lines * (r + 1) / n * kLine);
  return {begin, end - begin};
}

Exchange::Exchange(SharedChannel& channel, const Operation& operation)
    : channel_(channel), operation_(operation), hands_(channel.hands_for(on_device())) {}

measure::Movement Exchange::run() {
  if (point_to_point(operation_.collective)) {
    operation_.collective == Collective::send ? send() : receive();
    return movement_;
  }
  channel_.sequence_ += 1;
  const bool one_shot = fits_one_shot();
  announce();
  if (one_shot) stage_contribution();
  arrive();
  if (one_shot)
    take_from_contributions();
  else if (reachable())
    run_direct();
  else
    run_staged();
  return movement_;
}

void Exchange::announce() {
  Slot& slot = block().slot(rank());
  Descriptor& d = slot.descriptor[parity()];
  d.sequence = channel_.sequence_;
  d.collective = operation_.collective;
  d.reduce_op = operation_.reduce_op;
  d.type = operation_.type();
  d.root = operation_.root;
  d.payload_bytes = payload_bytes(operation_, world());
  d.counts_hash = 0;
  for (const std::size_t elements : operation_.counts) d.counts_hash = mix(d.counts_hash, elements);
  d.input = channel_.fabric_->address_of(operation_.input);
  d.output = channel_.fabric_->address_of(operation_.output);
  slot.signature[parity()].store(signature_of(d), std::memory_order_relaxed);
}

// The first phase of every operation: all ranks have said what they are about to do, and it is the same.
void Exchange::arrive() {
  bool all_there = true;
  const std::uint32_t phase = channel_.phase_ + 1;
  for (int r = 0; r < world() && all_there; ++r)
    all_there = r == rank() || reached(block().slot(r).arrived.load(std::memory_order_acquire), phase);
  if (all_there) {
    sync();
  } else {
    const base::TimePoint before = base::now();
    sync();
    movement_.peer_wait = base::now() - before;
  }
  require_agreement();
}

void Exchange::sync() {
  const std::uint32_t phase = ++channel_.phase_;
  Slot& own = block().slot(rank());
  publish(own.arrived, own.sleepers, phase);
  for (int r = 0; r < world(); ++r) {
    Slot& slot = block().slot(r);
    channel_.waiter_.wait(slot.arrived, slot.sleepers, phase);
  }
}

void Exchange::require_agreement() const {
  const std::uint64_t own = channel_.block_.slot(rank()).signature[parity()].load(std::memory_order_relaxed);
  for (int r = 0; r < world(); ++r) {
    if (channel_.block_.slot(r).signature[parity()].load(std::memory_order_relaxed) == own) continue;
    throw base::CommError(
        base::CommError::Kind::disagreement,
        fmt::format("ranks disagree over {}: rank {} is in {}, rank {} in {}", channel_.backend(), rank(),
                    describe_beside(descriptor(rank()), descriptor(r)), r,
                    describe_beside(descriptor(r), descriptor(rank()))));
  }
}

const Descriptor& Exchange::descriptor(int of_rank) const {
  return channel_.block_.slot(of_rank).descriptor[parity()];
}

// Every rank has a buffer in what moves something, if only an empty one.
bool Exchange::on_device() const {
  return operation_.input.place == Place::device || operation_.output.place == Place::device;
}

// Decided from what every rank knows alike. Contributions lie in the host's memory: what is on a device stays
// there.
bool Exchange::fits_one_shot() const {
  if (on_device()) return false;
  if (operation_.collective == Collective::all_gather || operation_.collective == Collective::gather) {
    std::size_t largest = 0;
    for (int r = 0; r < world(); ++r) largest = std::max(largest, part(r).bytes);
    return largest <= kSmallBytes;
  }
  // Every rank of a one-shot reduction reads all contributions: worth it only while that is little.
  const std::size_t limit = std::min(kSmallBytes, kSmallReads / static_cast<std::size_t>(world()));
  return payload_bytes(operation_, world()) <= limit;
}

// Whether every buffer that another rank has to touch can be reached.
bool Exchange::reachable() const {
  const auto all = [this](Address Descriptor::*address) {
    for (int r = 0; r < world(); ++r)
      if (!(descriptor(r).*address).reachable()) return false;
    return true;
  };
  switch (operation_.collective) {
    case Collective::all_reduce:
      return all(&Descriptor::input) && all(&Descriptor::output);
    case Collective::reduce:
      return all(&Descriptor::input) && descriptor(operation_.root).output.reachable();
    case Collective::broadcast:
    case Collective::scatter:
      return descriptor(operation_.root).input.reachable();
    default:
      return all(&Descriptor::input);
  }
}

void Exchange::copy_from(int of_rank, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_own(to, from, bytes);
  if (of_rank != rank()) count(bytes);
}

void Exchange::copy_own(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != from && bytes > 0) hands_.copy(to, from, bytes);
}

}  // namespace lockstep::comm::shared
