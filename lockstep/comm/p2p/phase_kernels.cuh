// The kernels of an operation in phases (phases.h): none of them waits. Included by kernels.cu only.
//
// Words in the host's memory are looked at by one block: reads of the same word by many go over the bus one
// after the other, 3 us each. Which one that is, phases.h says.
#pragma once

#include "lockstep/comm/p2p/block.cuh"
#include "lockstep/comm/p2p/pieces.cuh"
#include "lockstep/comm/p2p/reduce_kernels.cuh"

namespace lockstep::comm::p2p {

// One block's view of one phase. Functions named *_all must be called by all threads of the block.
class PhaseBlock {
 public:
  __device__ PhaseBlock(const Task& task, const Phase& phase) : task_(task), phase_(phase), block_(task) {}

  // Behind a wait: stops this rank where the host has ended the wait, or a peer means another operation.
  __device__ void look() const {
    if (is_last_thread() && is_aborted()) block_.stop(Trouble::none, task_.rank);
    if (meets(threadIdx.x)) require_agreement(threadIdx.x);
  }

  // Whether this block may do its work: nothing has stopped this rank.
  __device__ bool may_begin_all() const {
    if (blockIdx.x == 0 && phase_.waits != Meeting::none && !looks_ahead(phase_, gridDim.x)) look();
    __syncthreads();
    if (!block_.may_begin_all()) return false;
    if (blockIdx.x == 0 && is_last_thread()) note_begin();
    return true;
  }

  __device__ Regions regions() const { return {task_, phase_region_offset(blockIdx.x)}; }

  // Where a message from one rank to another lies.
  __device__ std::byte* outbox(unsigned from, unsigned to) const {
    return task_.arenas[from] + phase_outbox_offset(to, blockIdx.x);
  }

  // The last block to come here puts back the words of the meeting that was waited for, and signals the next
  // one. One thread does both for one peer, so the peer's word is 0 before that peer may write it again.
  __device__ void end_all() const {
    if (!is_last_block_all()) return;
    const unsigned peer = threadIdx.x;
    if (meets(peer)) {
      if (phase_.waits != Meeting::none) store_relaxed(word(task_.rank, phase_.waits, peer), 0u);
      if (phase_.signals != Meeting::none)
        store_release(word(peer, phase_.signals, task_.rank), came(task_.signature));
    }
    if (is_last_thread()) note_end();
  }

 private:
  __device__ static bool is_last_thread() { return threadIdx.x == blockDim.x - 1; }
  __device__ bool meets(unsigned peer) const {
    if (is_of_message(phase_.step)) return phase_.step != Step::note && peer == task_.root;
    return peer < task_.world && peer != task_.rank;
  }
  __device__ std::uint32_t* word(unsigned rank, Meeting meeting, unsigned who) const {
    return &task_.ranks[rank].met[static_cast<unsigned>(meeting)][who];
  }
  __device__ bool is_aborted() const { return load_relaxed(&task_.words->abort) != 0; }

  // A word that the host has set, to end a wait, was set after `abort`.
  __device__ void require_agreement(unsigned peer) const {
    const std::uint32_t seen = load_acquire(word(task_.rank, phase_.waits, peer));
    if (phase_.waits == Meeting::read || phase_.waits == Meeting::taken) return;  // of the operation before
    if (seen != came(task_.signature))
      block_.stop(is_aborted() ? Trouble::none : Trouble::disagreement, peer);
  }

  __device__ bool is_last_block_all() const {
    __syncthreads();
    if (gridDim.x == 1) return true;
    bool last = false;
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicInc(&block_.own_header().blocks_done, gridDim.x - 1) ==
             gridDim.x - 1;  // and begins again at 0
      __threadfence();
    }
    return __syncthreads_or(last) != 0;
  }

  __device__ void note_begin() const {
    ArenaHeader& own = block_.own_header();
    if (phase_.first && !is_of_message(phase_.step)) store_relaxed(&own_words().begun, ++own.operations);
    const bool has_met = phase_.waits == Meeting::ready || phase_.waits == Meeting::mailed;
    if (has_met && phase_.round == 0 && task_.first_wait != nullptr)
      *static_cast<volatile std::uint64_t*>(task_.first_wait) = nanoseconds_now() - own.ready_at;
  }
  __device__ void note_end() const {
    ArenaHeader& own = block_.own_header();
    if (phase_.round == 0 && (phase_.signals == Meeting::ready || phase_.step == Step::note))
      own.ready_at = nanoseconds_now();
    if (is_of_message(phase_.step)) return;
    store_relaxed(&own_words().awaits, static_cast<std::uint32_t>(phase_.signals));
    if (phase_.last) store_relaxed(&own_words().ended, own.operations);
  }
  __device__ RankWords& own_words() const { return task_.ranks[task_.rank]; }

  const Task& task_;
  const Phase& phase_;
  Block block_;
};

// What a rank puts into its outbox for a peer, and takes from a peer's for itself.
__device__ inline void send(const Task& task, const PhaseBlock& block, std::uint32_t round) {
  const Piece piece = piece_of(task, round, task.part_bytes[0]);
  copy_all(block.outbox(task.rank, task.root), task.input + piece.begin, piece.bytes);
}
__device__ inline void receive(const Task& task, const PhaseBlock& block, std::uint32_t round) {
  const Piece piece = piece_of(task, round, task.part_bytes[0]);
  copy_all(task.output + piece.begin, block.outbox(task.root, task.rank), piece.bytes);
}

// One block of as many threads as there may be ranks.
__global__ __launch_bounds__(kMostRanks) void look_kernel(const __grid_constant__ Task task,
                                                          const __grid_constant__ Phase phase) {
  PhaseBlock(task, phase).look();
}

__global__ __launch_bounds__(kThreads, 2) void move_phase_kernel(const __grid_constant__ Task task,
                                                                 const __grid_constant__ Phase phase) {
  const PhaseBlock block(task, phase);
  if (!block.may_begin_all()) return;
  switch (phase.step) {
    case Step::publish:
      publish(block.regions(), phase.round);
      break;
    case Step::pull:
      pull(block.regions(), phase.round);
      break;
    case Step::send:
      send(task, block, phase.round);
      break;
    case Step::receive:
      receive(task, block, phase.round);
      break;
    default:
      break;  // a note
  }
  block.end_all();
}

// A share that is reduced goes where the peers' addends for it would lie: nobody reads that before the next
// meeting.
template <typename Element, typename Op>
__global__ __launch_bounds__(kThreads, 2) void reduce_phase_kernel(const __grid_constant__ Task task,
                                                                   const __grid_constant__ Phase phase) {
  const PhaseBlock block(task, phase);
  if (!block.may_begin_all()) return;
  reduce_pieces<Element, Op>(block.regions(), block.regions().own(), phase.round);
  block.end_all();
}

}  // namespace lockstep::comm::p2p
