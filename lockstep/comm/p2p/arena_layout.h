// What lies where in an arena: the piece of device memory that each rank allocates and all ranks map. Shared
// by host code and kernels, so it includes nothing but integers.
//
//   header | slot 0 | slot 1 | outbox to rank 0 | outbox to rank 1 | ...
//
// A slot has one region for each block of a kernel; block b of any rank reads and writes regions and words of
// index b only, so blocks are independent channels. An outbox has two halves of such regions. In phases
// (phases.h) there is one slot with twice as many regions, and each is larger: a round costs two or three
// launches and meetings there. Both halves of an outbox are one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm::p2p {

inline constexpr int kMostRanks = 32;
inline constexpr int kMostBlocks = 32;  // of a collective's kernel
inline constexpr int kMailBlocks = 8;   // of a send or receive
inline constexpr int kMostPhaseBlocks = 2 * kMostBlocks;
inline constexpr int kPhaseMailBlocks = 2 * kMailBlocks;
inline constexpr std::size_t kRegionBytes = std::size_t{256} << 10;
inline constexpr std::size_t kPhaseRegionBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMailRegionBytes = std::size_t{64} << 10;

// Words that peers write are a number and, in the lower half, the signature of the operation (plan.h).
struct ArenaHeader {
  // Written by the peers: [number & 1][block][who].
  std::uint64_t arrived[2][kMostBlocks][kMostRanks];  // its data of this round lies in its slot
  std::uint64_t mailed[2][kMailBlocks][kMostRanks];   // its piece for this rank lies in its outbox
  std::uint64_t taken[2][kMailBlocks][kMostRanks];    // it has read the piece from this rank's outbox
  // Of this rank alone, kept from kernel to kernel.
  std::uint32_t rounds[kMostBlocks];                // rounds that a block has begun
  std::uint32_t sent[kMailBlocks][kMostRanks];      // pieces
  std::uint32_t received[kMailBlocks][kMostRanks];  // pieces
  std::uint32_t stop;                               // not 0: something went wrong, every block leaves
  // Likewise, in phases.
  std::uint32_t blocks_done;  // of the kernel that runs
  std::uint32_t operations;   // collectives begun
  std::uint64_t ready_at;     // when this rank began to wait for its peers
};

inline constexpr std::size_t kHeaderBytes = std::size_t{64} << 10;
static_assert(sizeof(ArenaHeader) <= kHeaderBytes);

inline constexpr std::size_t kSlotBytes = kMostBlocks * kRegionBytes;
inline constexpr std::size_t kOutboxBytes = 2 * kMailBlocks * kMailRegionBytes;

// `half` is 0 or 1.
constexpr std::size_t region_offset(unsigned half, unsigned block) {
  return kHeaderBytes + half * kSlotBytes + block * kRegionBytes;
}
constexpr std::size_t outbox_offset(unsigned to, unsigned half, unsigned block) {
  return kHeaderBytes + 2 * kSlotBytes + to * kOutboxBytes + (half * kMailBlocks + block) * kMailRegionBytes;
}
constexpr std::size_t phase_region_offset(unsigned block) {
  return kHeaderBytes + block * kPhaseRegionBytes;
}
constexpr std::size_t phase_outbox_offset(unsigned to, unsigned block) {
  return phase_region_offset(kMostPhaseBlocks) + to * kOutboxBytes + block * kMailRegionBytes;
}
// CUDA maps memory of other processes in units of 2 MiB.
constexpr std::size_t arena_bytes(int world, bool in_phases) {
  constexpr std::size_t kUnit = std::size_t{2} << 20;
  const auto ranks = static_cast<unsigned>(world);
  const std::size_t end = in_phases ? phase_outbox_offset(ranks, 0) : outbox_offset(ranks, 0, 0);
  return (end + kUnit - 1) / kUnit * kUnit;
}

}  // namespace lockstep::comm::p2p
