// The kernels that reduce, one for each element type and reduction. Included by kernels.cu only.
#pragma once

#include "lockstep/comm/p2p/block.cuh"
#include "lockstep/comm/p2p/pieces.cuh"
#include "lockstep/comm/p2p/reduce.cuh"

namespace lockstep::comm::p2p {

// Reduces what this rank has to reduce of one round: its own addends, and the peers' in their regions. Of a
// two-shot all-reduce that is one share, which goes to `share` too, a region where the peers will find it.
template <typename Element, typename Op>
__device__ inline void reduce_pieces(const Regions& addends, std::byte* share, std::uint32_t round) {
  const Task& task = addends.task;
  const bool by_parts = task.algorithm == Algorithm::reduce_scatter;
  const unsigned part = by_parts ? task.rank : 0;
  const Piece piece = piece_of(task, round, task.part_bytes[part]);
  const std::byte* input = task.input + (by_parts ? task.part_offset[part] : 0) + piece.begin;
  std::byte* output = task.output + piece.begin;
  if (task.algorithm == Algorithm::two_shot) {
    const Share own = share_of(piece.bytes, task.rank, task.world);
    reduce_all<Element, Op>(task,
                            {input + own.begin, output + own.begin, share + own.begin, own.end - own.begin},
                            addends.offset + own.begin);
  } else if (task.algorithm != Algorithm::reduce || is_root(task)) {
    reduce_all<Element, Op>(task, {input, output, nullptr, piece.bytes},
                            addends.offset + (by_parts ? part * task.piece_bytes : 0));
  }
}

// One round of pieces with all threads of the block; false when the block must leave. A two-shot all-reduce
// meets twice: the peers' addends lie in one slot, the reduced shares in the other.
template <typename Element, typename Op>
__device__ inline bool reduce_round(const Task& task, Rounds& rounds, std::uint32_t round) {
  rounds.begin();
  publish(rounds.regions(), round);
  if (!rounds.meet_all()) return false;
  const Regions addends = rounds.regions();
  const bool twice = task.algorithm == Algorithm::two_shot;
  if (twice) rounds.begin();
  reduce_pieces<Element, Op>(addends, rounds.regions().own(), round);
  if (!twice) return true;
  if (!rounds.meet_all()) return false;
  pull_shares(rounds.regions(), round);
  return true;
}

template <typename Element, typename Op>
__global__ __launch_bounds__(kThreads, 2) void reduce_kernel(const __grid_constant__ Task task) {
  Rounds rounds(task);
  if (!rounds.may_begin_all()) return;
  for (std::uint32_t round = 0; round < task.rounds; ++round)
    if (!reduce_round<Element, Op>(task, rounds, round)) return;
  rounds.end_all();
}

}  // namespace lockstep::comm::p2p
