// What the ranks of one group share: a slot each, in which a rank says where it is and what it does, small
// and large staging areas for data, and mailboxes for send and receive. It lies in memory that every rank has
// mapped (shm) or that all replicas see anyway (local), so it holds no pointers of its own.
//
// Terms: a *phase* is one synchronisation of the whole group; a rank's `arrived` counts the phases it has
// reached. An operation has one phase or several. Its *parity* is its number modulo 2: since a rank can be at
// most one phase ahead of another, what an operation leaves in the area of its parity is safe until the next
// but one.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lockstep/comm/operation.h"

namespace lockstep::comm::shared {

inline constexpr std::size_t kLine = 64;                // a cache line
inline constexpr std::size_t kSmallBytes = 16 * 1024;   // largest contribution of a one-shot operation
inline constexpr std::size_t kSmallReads = 64 * 1024;   // most that one rank reads in one
inline constexpr std::size_t kPieceBytes = 512 * 1024;  // what a staged operation stages at a time, per rank
inline constexpr std::size_t kMostMailBytes = 64 * 1024;  // half of a mailbox in a small world
inline constexpr std::size_t kLeastMailBytes = 1024;      // and in a large one

// Half of a mailbox. There is one for every pair of ranks, so that halves shrink as the world grows: all
// mailboxes together take 256 MiB of address space (not of memory) up to 360 ranks, and 37 GiB for 4096.
constexpr std::size_t mail_bytes(int world) {
  constexpr std::size_t kTogether = std::size_t{256} << 20;
  const auto n = static_cast<std::size_t>(world);
  return std::clamp(kTogether / (2 * n * n) / kLine * kLine, kLeastMailBytes, kMostMailBytes);
}

// Where a buffer lies, in a form that other ranks understand. Segment -1: nowhere they can reach.
struct Address {
  std::int64_t segment = -1;
  std::uint64_t offset = 0;
  bool reachable() const { return segment >= 0; }
};

// What a rank says of the operation it has begun.
struct Descriptor {
  std::uint64_t sequence;
  Collective collective;
  ReduceOp reduce_op;
  ElementType type;
  std::int32_t root;
  std::uint64_t payload_bytes;
  std::uint64_t counts_hash;
  Address input;
  Address output;
};

struct alignas(kLine) Slot {
  std::atomic<std::uint32_t> arrived;   // phases reached; the word that others sleep on
  std::atomic<std::uint32_t> sleepers;  // how many sleep on it
  std::atomic<std::uint64_t>
      signature[2];  // of the descriptor, by parity: one line tells whether ranks agree
  alignas(kLine) Descriptor descriptor[2];  // by parity
  alignas(kLine) cpu_set_t cores;           // that the rank may run on, written once
};

// One direction between two ranks; its two halves follow it. `posted` and `taken` count halves written and
// read.
struct alignas(kLine) Mailbox {
  std::atomic<std::uint32_t> posted;
  std::atomic<std::uint32_t> posted_sleepers;
  std::uint64_t message_bytes;  // of the message whose first half is posted
  ElementType type;
  Address source;  // reachable: the receiver copies from there, nothing is staged
  alignas(kLine) std::atomic<std::uint32_t> taken;
  std::atomic<std::uint32_t> taken_sleepers;
};

struct alignas(kLine) Header {
  std::atomic<std::uint32_t> aborted;  // 1 + the rank that aborted
  std::atomic<std::uint32_t> lost;     // 1 + the rank whose process was first found to have ended
};

inline bool point_to_point(Collective collective) {
  return collective == Collective::send || collective == Collective::receive;
}

// Finds the parts of a control block of `world` ranks that starts at `base`.
class ControlBlock {
 public:
  ControlBlock(std::byte* base, int world) : base_(base), world_(static_cast<std::size_t>(world)) {}

  static std::size_t bytes(int world);
  // Fresh memory is zero, which is the initial state of everything in it.
  Header& header() const { return *reinterpret_cast<Header*>(base_); }
  Slot& slot(int rank) const { return reinterpret_cast<Slot*>(base_ + sizeof(Header))[rank]; }
  // A rank's contribution to a one-shot operation of this parity.
  std::byte* small(int rank, unsigned parity) const { return area(rank) + parity * kSmallBytes; }
  // Two buffers a rank for staged input, two for staged results.
  std::byte* staged_input(int rank, std::size_t piece) const {
    return large(rank) + (piece % 2) * kPieceBytes;
  }
  std::byte* staged_result(int rank, std::size_t piece) const {
    return large(rank) + (2 + piece % 2) * kPieceBytes;
  }
  Mailbox& mailbox(int from, int to) const { return *reinterpret_cast<Mailbox*>(mailbox_begin(from, to)); }
  std::byte* mailbox_half(int from, int to, std::size_t half) const {
    return mailbox_begin(from, to) + sizeof(Mailbox) + half % 2 * half_bytes();
  }
  std::size_t half_bytes() const { return mail_bytes(static_cast<int>(world_)); }

 private:
  static constexpr std::size_t kAreaBytes = 2 * kSmallBytes + 4 * kPieceBytes;
  std::byte* areas() const { return base_ + sizeof(Header) + world_ * sizeof(Slot); }
  std::byte* area(int rank) const { return areas() + static_cast<std::size_t>(rank) * kAreaBytes; }
  std::byte* large(int rank) const { return area(rank) + 2 * kSmallBytes; }
  static std::size_t mailbox_bytes(int world) { return sizeof(Mailbox) + 2 * mail_bytes(world); }
  std::byte* mailbox_begin(int from, int to) const {
    const std::size_t number = static_cast<std::size_t>(from) * world_ + static_cast<std::size_t>(to);
    return areas() + world_ * kAreaBytes + number * mailbox_bytes(static_cast<int>(world_));
  }

  std::byte* base_;
  std::size_t world_;
};

inline std::size_t ControlBlock::bytes(int world) {
  const auto n = static_cast<std::size_t>(world);
  return sizeof(Header) + n * sizeof(Slot) + n * kAreaBytes + n * n * mailbox_bytes(world);
}

}  // namespace lockstep::comm::shared
