// The kernels that move bytes as they are. Included by kernels.cu only.
#pragma once

#include "lockstep/comm/p2p/block.cuh"
#include "lockstep/comm/p2p/copy.cuh"

namespace lockstep::comm::p2p {

__global__ __launch_bounds__(kThreads, 2) void move_kernel(const __grid_constant__ Task task) {
  Rounds rounds(task);
  if (!rounds.may_begin_all()) return;
  for (std::uint32_t round = 0; round < task.rounds; ++round) {
    rounds.begin();
    publish(rounds.regions(), round);
    if (!rounds.meet_all()) return;
    pull(rounds.regions(), round);
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
