// The kernels that move bytes as they are. Included by kernels.cu only.
#pragma once

#include "lockstep/comm/p2p/block.cuh"
#include "lockstep/comm/p2p/copy.cuh"

namespace lockstep::comm::p2p {

// What a rank puts into its region in one round, and what it takes from the peers' after the meeting.
struct Mover {
  const Task& task;
  Rounds& rounds;

  __device__ bool is_root() const { return task.rank == task.root; }
  __device__ Piece piece_in(unsigned part, std::uint32_t round) const {
    return piece_of(task, round, task.part_bytes[part]);
  }

  __device__ void publish(std::uint32_t round) const {
    switch (task.algorithm) {
      case Algorithm::all_gather:
        return publish_own_part(round, true);
      case Algorithm::gather:
        return publish_own_part(round, is_root());
      case Algorithm::broadcast:
        if (is_root()) publish_whole(round);
        return;
      case Algorithm::scatter:
        if (is_root()) publish_parts(round);
        return;
      default:
        return;  // a barrier
    }
  }

  __device__ void publish_own_part(std::uint32_t round, bool keeps_it) const {
    const Piece piece = piece_in(task.rank, round);
    const std::byte* input = task.input + piece.begin;
    const bool is_needed = task.algorithm == Algorithm::all_gather || !is_root();
    if (is_needed) copy_all(rounds.own_region(), input, piece.bytes);
    if (keeps_it) copy_all(task.output + task.part_offset[task.rank] + piece.begin, input, piece.bytes);
  }
  __device__ void publish_whole(std::uint32_t round) const {
    const Piece piece = piece_in(0, round);
    copy_all(rounds.own_region(), task.input + piece.begin, piece.bytes);
  }
  // A piece of each peer's part, one behind the other.
  __device__ void publish_parts(std::uint32_t round) const {
    for (unsigned part = 0; part < task.world; ++part) {
      const Piece piece = piece_in(part, round);
      const std::byte* input = task.input + task.part_offset[part] + piece.begin;
      std::byte* to =
          part == task.rank ? task.output + piece.begin : rounds.own_region() + part * task.piece_bytes;
      copy_all(to, input, piece.bytes);
    }
  }

  __device__ void pull(std::uint32_t round) const {
    switch (task.algorithm) {
      case Algorithm::all_gather:
        return pull_parts(round);
      case Algorithm::gather:
        if (is_root()) pull_parts(round);
        return;
      case Algorithm::broadcast:
        if (!is_root()) pull_from_root(piece_in(0, round), 0);
        return;
      case Algorithm::scatter:
        if (!is_root()) pull_from_root(piece_in(task.rank, round), task.rank * task.piece_bytes);
        return;
      default:
        return;
    }
  }

  __device__ void pull_parts(std::uint32_t round) const {
    for (unsigned i = 1; i < task.world; ++i) {
      const unsigned peer = (task.rank + i) % task.world;
      const Piece piece = piece_in(peer, round);
      copy_all(task.output + task.part_offset[peer] + piece.begin, rounds.region_of(peer), piece.bytes);
    }
  }
  __device__ void pull_from_root(const Piece& piece, std::uint64_t offset_in_region) const {
    copy_all(task.output + piece.begin, rounds.region_of(task.root) + offset_in_region, piece.bytes);
  }
};

__global__ __launch_bounds__(kThreads, 2) void move_kernel(const __grid_constant__ Task task) {
  Rounds rounds(task);
  if (!rounds.may_begin_all()) return;
  const Mover mover{task, rounds};
  for (std::uint32_t round = 0; round < task.rounds; ++round) {
    rounds.begin();
    mover.publish(round);
    if (!rounds.meet_all()) return;
    mover.pull(round);
  }
  rounds.end_all();
}

// Messages. The pieces from one rank to another are numbered, block by block. The sender puts piece n into
// half n & 1 of its outbox once piece n - 2 has been taken, and mails n; the receiver waits for n, reads the
// half, and says that n is taken. So a half is overwritten only after it was read, and the word that carries
// n only after it was seen: it goes from n - 2 to n. A message that fits into both halves does not wait for
// its receiver.
__global__ __launch_bounds__(kThreads, 2) void send_kernel(const __grid_constant__ Task task) {
  const Block block(task);
  if (!block.may_begin_all()) return;
  const unsigned peer = task.root;
  ArenaHeader& own = block.own_header();
  std::uint32_t number = own.sent[blockIdx.x][peer];
  for (std::uint32_t round = 0; round < task.rounds; ++round) {
    const Piece piece = piece_of(task, round, task.part_bytes[0]);
    const unsigned half = ++number & 1;
    const bool failed =
        threadIdx.x == 0 && !block.wait_until_reached(&own.taken[half][blockIdx.x][peer], number - 2, peer);
    if (__syncthreads_or(failed) != 0) return;
    copy_all(task.arenas[task.rank] + outbox_offset(peer, half, blockIdx.x), task.input + piece.begin,
             piece.bytes);
    __syncthreads();
    if (threadIdx.x == 0)
      store_release(&block.header_of(peer)->mailed[half][blockIdx.x][task.rank],
                    word_of(number, task.signature));
  }
  if (threadIdx.x == 0) own.sent[blockIdx.x][peer] = number;
}

__global__ __launch_bounds__(kThreads, 2) void receive_kernel(const __grid_constant__ Task task) {
  const Block block(task);
  if (!block.may_begin_all()) return;
  const unsigned peer = task.root;
  ArenaHeader& own = block.own_header();
  std::uint32_t number = own.received[blockIdx.x][peer];
  for (std::uint32_t round = 0; round < task.rounds; ++round) {
    const Piece piece = piece_of(task, round, task.part_bytes[0]);
    const unsigned half = ++number & 1;
    const std::uint64_t begin = nanoseconds_now();
    const bool failed =
        threadIdx.x == 0 && !block.wait_for_number(&own.mailed[half][blockIdx.x][peer], number, peer);
    if (__syncthreads_or(failed) != 0) return;
    if (round == 0) note_first_wait(task, begin);
    copy_all(task.output + piece.begin, task.arenas[peer] + outbox_offset(task.rank, half, blockIdx.x),
             piece.bytes);
    __syncthreads();
    if (threadIdx.x == 0)
      store_release(&block.header_of(peer)->taken[half][blockIdx.x][task.rank],
                    word_of(number, task.signature));
  }
  if (threadIdx.x == 0) own.received[blockIdx.x][peer] = number;
}

}  // namespace lockstep::comm::p2p
