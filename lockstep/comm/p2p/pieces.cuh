// What a block copies of its pieces: into its rank's own region before a meeting, and out of the peers' after
// it. Functions here are called by all threads of a block. Included by kernels only.
#pragma once

#include "lockstep/comm/p2p/copy.cuh"
#include "lockstep/comm/p2p/kernels.h"

namespace lockstep::comm::p2p {

// What a block has to do with a part in one round: `bytes` from `begin` on.
struct Piece {
  std::uint64_t begin;
  std::uint64_t bytes;
};
__device__ inline Piece piece_of(const Task& task, std::uint32_t round, std::uint64_t part_bytes) {
  const std::uint64_t begin = (std::uint64_t{round} * gridDim.x + blockIdx.x) * task.piece_bytes;
  if (begin >= part_bytes) return {begin, 0};
  const std::uint64_t left = part_bytes - begin;
  return {begin, left < task.piece_bytes ? left : task.piece_bytes};
}

// Where a block's regions lie in one round: at the same offset in every arena.
struct Regions {
  const Task& task;
  std::uint64_t offset;

  __device__ std::byte* of(unsigned rank) const { return task.arenas[rank] + offset; }
  __device__ std::byte* own() const { return of(task.rank); }
};

__device__ inline bool is_root(const Task& task) {
  return task.rank == task.root;
}

__device__ inline void publish_whole(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  const Piece piece = piece_of(task, round, task.part_bytes[0]);
  copy_all(regions.own(), task.input + piece.begin, piece.bytes);
}

// What the peers reduce: all but its own share.
__device__ inline void publish_shares(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  const Piece piece = piece_of(task, round, task.part_bytes[0]);
  const Share own = share_of(piece.bytes, task.rank, task.world);
  const std::byte* input = task.input + piece.begin;
  copy_all(regions.own(), input, own.begin);
  copy_all(regions.own() + own.end, input + own.end, piece.bytes - own.end);
}

__device__ inline void publish_own_part(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  const bool is_needed = task.algorithm == Algorithm::all_gather || !is_root(task);
  const bool keeps_it = task.algorithm == Algorithm::all_gather || is_root(task);
  const Piece piece = piece_of(task, round, task.part_bytes[task.rank]);
  const std::byte* input = task.input + piece.begin;
  if (is_needed) copy_all(regions.own(), input, piece.bytes);
  if (keeps_it) copy_all(task.output + task.part_offset[task.rank] + piece.begin, input, piece.bytes);
}

// A piece of each peer's part, one behind the other.
__device__ inline void publish_parts(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  for (unsigned i = 1; i < task.world; ++i) {
    const unsigned peer = (task.rank + i) % task.world;
    const Piece piece = piece_of(task, round, task.part_bytes[peer]);
    copy_all(regions.own() + peer * task.piece_bytes, task.input + task.part_offset[peer] + piece.begin,
             piece.bytes);
  }
}

__device__ inline void keep_own_part(const Task& task, std::uint32_t round) {
  const Piece piece = piece_of(task, round, task.part_bytes[task.rank]);
  copy_all(task.output + piece.begin, task.input + task.part_offset[task.rank] + piece.begin, piece.bytes);
}

// Puts what peers shall read into the rank's own region.
__device__ inline void publish(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  switch (task.algorithm) {
    case Algorithm::one_shot:
      return publish_whole(regions, round);
    case Algorithm::two_shot:
      return publish_shares(regions, round);
    case Algorithm::reduce:
      if (!is_root(task)) publish_whole(regions, round);
      return;
    case Algorithm::broadcast:
      if (is_root(task)) publish_whole(regions, round);
      return;
    case Algorithm::reduce_scatter:
      return publish_parts(regions, round);
    case Algorithm::scatter:
      if (!is_root(task)) return;
      publish_parts(regions, round);
      return keep_own_part(task, round);
    case Algorithm::all_gather:
    case Algorithm::gather:
      return publish_own_part(regions, round);
    default:
      return;  // a barrier
  }
}

// The shares that the peers have reduced.
__device__ inline void pull_shares(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  const Piece piece = piece_of(task, round, task.part_bytes[0]);
  std::byte* output = task.output + piece.begin;
  for (unsigned i = 1; i < task.world; ++i) {
    const unsigned peer = (task.rank + i) % task.world;
    const Share share = share_of(piece.bytes, peer, task.world);
    copy_all(output + share.begin, regions.of(peer) + share.begin, share.end - share.begin);
  }
}

__device__ inline void pull_parts(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  for (unsigned i = 1; i < task.world; ++i) {
    const unsigned peer = (task.rank + i) % task.world;
    const Piece piece = piece_of(task, round, task.part_bytes[peer]);
    copy_all(task.output + task.part_offset[peer] + piece.begin, regions.of(peer), piece.bytes);
  }
}

// Takes what this rank needs, as it is, from the peers' regions.
__device__ inline void pull(const Regions& regions, std::uint32_t round) {
  const Task& task = regions.task;
  switch (task.algorithm) {
    case Algorithm::two_shot:
      return pull_shares(regions, round);
    case Algorithm::all_gather:
      return pull_parts(regions, round);
    case Algorithm::gather:
      if (is_root(task)) pull_parts(regions, round);
      return;
    case Algorithm::broadcast:
    case Algorithm::scatter: {
      if (is_root(task)) return;
      const bool scatters = task.algorithm == Algorithm::scatter;
      const Piece piece = piece_of(task, round, task.part_bytes[scatters ? task.rank : 0]);
      return copy_all(task.output + piece.begin,
                      regions.of(task.root) + (scatters ? task.rank * task.piece_bytes : 0), piece.bytes);
    }
    default:
      return;  // a barrier
  }
}

}  // namespace lockstep::comm::p2p
