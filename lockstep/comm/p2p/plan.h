// How an operation is cut up for the kernels, and what it moves. Needs no GPU.
//
// A *part* is what belongs to one rank (operation.h); operations without parts have one, the whole. In each
// *round* block b of every rank deals with one *piece* of every part it has to do with: bytes
// [(round * blocks + b) * piece_bytes, + piece_bytes) of it, as far as the part reaches. All ranks make the
// same plan, since it depends on what all of them know.
#pragma once

#include <cstdint>

#include "lockstep/comm/operation.h"
#include "lockstep/comm/p2p/algorithm.h"
#include "lockstep/comm/p2p/arena_layout.h"

namespace lockstep::comm::p2p {

struct Plan {
  Algorithm algorithm = Algorithm::barrier;
  std::uint32_t blocks = 1;
  std::uint32_t rounds = 1;       // in which pieces begin; two_shot meets twice in each
  std::uint64_t piece_bytes = 0;  // a multiple of kPieceUnit, except in a barrier
  // Of the operation: ranks that compare theirs find out that they do not mean the same one.
  std::uint32_t signature = 0;
};

inline constexpr std::uint64_t kPieceUnit = 128;

// False for operations with nothing to move, which need no kernel at all. (A barrier does.)
bool needs_kernel(const Operation& operation, int world);

// How large kernels may be, the same on all ranks.
struct Limits {
  std::uint32_t blocks = 1;                   // of a collective
  std::uint32_t mail_blocks = 1;              // of a message
  bool in_phases = false;                     // phases.h
  std::uint64_t region_bytes = kRegionBytes;  // that a block fills in one round
  // What each rank of a one-shot all-reduce may read more than in a two-shot one.
  std::uint64_t one_shot_excess = 0;
};
// With at most `blocks` of a kernel, and what the layout of the arenas allows.
Limits limits_of_one_kernel(std::uint32_t blocks);
Limits limits_in_phases(std::uint32_t blocks, int world);

Plan plan_for(const Operation& operation, int world, const Limits& limits);

// Bytes that `rank` reads from other ranks' memory. (Data is always read by who needs it; all that is written
// to another rank's memory are the words of the header, which are protocol and not counted.)
std::uint64_t wire_bytes(const Plan& plan, const Operation& operation, int rank, int world);
// How many times it reads from a peer: once for each peer it has anything to read from, twice in a two-shot
// all-reduce, however many rounds and blocks that takes.
std::uint64_t messages(const Plan& plan, const Operation& operation, int rank, int world);

}  // namespace lockstep::comm::p2p
