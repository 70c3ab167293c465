// The kernels that reduce, one for each element type and reduction. Included by kernels.cu only.
#pragma once

#include "lockstep/comm/p2p/block.cuh"
#include "lockstep/comm/p2p/copy.cuh"
#include "lockstep/comm/p2p/reduce.cuh"

namespace lockstep::comm::p2p {

// Each of these does one round of pieces with all threads of the block, and returns false when the block must
// leave.
template <typename Element, typename Op>
struct Reducer {
  const Task& task;
  Rounds& rounds;

  __device__ bool one_shot(std::uint32_t round) const {
    const Piece piece = piece_of(task, round, task.part_bytes[0]);
    const std::byte* input = task.input + piece.begin;
    rounds.begin();
    copy_all(rounds.own_region(), input, piece.bytes);
    if (!rounds.meet_all()) return false;
    reduce_all<Element, Op>(task, {input, task.output + piece.begin, nullptr, piece.bytes}, rounds.offset());
    return true;
  }

  // Two meetings: the peers' addends lie in one slot, the reduced shares in the other.
  __device__ bool two_shot(std::uint32_t round) const {
    const Piece piece = piece_of(task, round, task.part_bytes[0]);
    const Share own = share_of(piece.bytes, task.rank, task.world);
    const std::byte* input = task.input + piece.begin;
    std::byte* output = task.output + piece.begin;
    rounds.begin();
    copy_all(rounds.own_region(), input, own.begin);
    copy_all(rounds.own_region() + own.end, input + own.end, piece.bytes - own.end);
    if (!rounds.meet_all()) return false;
    const std::uint64_t addends = rounds.offset();
    rounds.begin();
    const Range range{input + own.begin, output + own.begin, rounds.own_region() + own.begin,
                      own.end - own.begin};
    reduce_all<Element, Op>(task, range, addends + own.begin);
    if (!rounds.meet_all()) return false;
    pull_shares(output, piece.bytes);
    return true;
  }

  __device__ void pull_shares(std::byte* output, std::uint64_t piece_bytes) const {
    for (unsigned i = 1; i < task.world; ++i) {
      const unsigned peer = (task.rank + i) % task.world;
      const Share share = share_of(piece_bytes, peer, task.world);
      copy_all(output + share.begin, rounds.region_of(peer) + share.begin, share.end - share.begin);
    }
  }

  __device__ bool to_root(std::uint32_t round) const {
    const Piece piece = piece_of(task, round, task.part_bytes[0]);
    const std::byte* input = task.input + piece.begin;
    const bool is_root = task.rank == task.root;
    rounds.begin();
    if (!is_root) copy_all(rounds.own_region(), input, piece.bytes);
    if (!rounds.meet_all()) return false;
    if (is_root)
      reduce_all<Element, Op>(task, {input, task.output + piece.begin, nullptr, piece.bytes},
                              rounds.offset());
    return true;
  }

  // A region holds a piece of each peer's part, one behind the other.
  __device__ bool scatter(std::uint32_t round) const {
    rounds.begin();
    for (unsigned i = 1; i < task.world; ++i) {
      const unsigned peer = (task.rank + i) % task.world;
      const Piece piece = piece_of(task, round, task.part_bytes[peer]);
      copy_all(rounds.own_region() + peer * task.piece_bytes,
               task.input + task.part_offset[peer] + piece.begin, piece.bytes);
    }
    if (!rounds.meet_all()) return false;
    const Piece own = piece_of(task, round, task.part_bytes[task.rank]);
    const std::byte* input = task.input + task.part_offset[task.rank] + own.begin;
    reduce_all<Element, Op>(task, {input, task.output + own.begin, nullptr, own.bytes},
                            rounds.offset() + task.rank * task.piece_bytes);
    return true;
  }

  __device__ bool round(std::uint32_t index) const {
    switch (task.algorithm) {
      case Algorithm::one_shot:
        return one_shot(index);
      case Algorithm::two_shot:
        return two_shot(index);
      case Algorithm::reduce:
        return to_root(index);
      default:
        return scatter(index);
    }
  }
};

template <typename Element, typename Op>
__global__ __launch_bounds__(kThreads, 2) void reduce_kernel(const __grid_constant__ Task task) {
  Rounds rounds(task);
  if (!rounds.may_begin_all()) return;
  const Reducer<Element, Op> reducer{task, rounds};
  for (std::uint32_t round = 0; round < task.rounds; ++round)
    if (!reducer.round(round)) return;
  rounds.end_all();
}

}  // namespace lockstep::comm::p2p
