// How block b of this rank meets block b of the peers, where an operation is one kernel that waits: for ranks
// that each have a GPU of their own. (Those that share one do operations in phases: phases.h.) Included by
// kernels.cu only.
//
// Rounds. A block counts its rounds; all ranks give the same operations, so block b has the same number s on
// every rank. In round s a rank
//   1. writes what peers shall read into its region of slot s & 1,
//   2. signals s to every peer (writes s into the peer's word [s & 1]),
//   3. waits until every peer has signalled s to it,
//   4. reads the peers' regions of slot s & 1.
// Why no region is overwritten while somebody reads it: a rank writes slot s & 1 again in round s + 2, after
// it has seen every peer's signal s + 1; a peer signals s + 1 only after its reads of round s. (The signal is
// a release at system scope behind a barrier of the block, so it comes after the reads of all its threads;
// the wait is an acquire before such a barrier, so the writes of all threads come after it.) Why no word is
// overwritten while somebody waits for it: a peer writes s + 2 into word s & 1 after it has seen this rank's
// signal s + 1, which this rank gives after its wait in round s. So a waiting rank sees s - 2 (or the initial
// 0) and then s, never more, and can compare the signature that lies beside the number. This holds across
// operations and kernels: numbers go on in the header, and blocks that an operation does not use do not count
// on any rank.
//
// Every wait ends: it leaves when the host's abort word or the header's stop word is set, and sets the latter
// itself when its time is over. Stop is never taken back: kernels that are still on the stream leave at once.
#pragma once

#include "lockstep/comm/p2p/kernels.h"
#include "lockstep/comm/p2p/pieces.cuh"
#include "lockstep/comm/p2p/words.cuh"

namespace lockstep::comm::p2p {

inline constexpr unsigned kThreads = 512;
inline constexpr unsigned kEagerLooks = 256;    // before a waiting thread sleeps between looks
inline constexpr unsigned kLooksPerCheck = 64;  // at its word, before it looks at the host's and the clock
inline constexpr unsigned kSleepNanoseconds = 100;

__device__ inline std::uint64_t word_of(std::uint32_t number, std::uint32_t signature) {
  return (std::uint64_t{number} << 32) | signature;
}
__device__ inline std::uint32_t number_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

// One block's view of its task. Functions named *_all must be called by all threads of the block.
class Block {
 public:
  __device__ explicit Block(const Task& task)
      : task_(task), header_(header_of(task.rank)), start_(nanoseconds_now()) {}

  __device__ ArenaHeader* header_of(unsigned rank) const {
    return reinterpret_cast<ArenaHeader*>(task_.arenas[rank]);
  }
  __device__ ArenaHeader& own_header() const { return *header_; }

  // Whether this block may begin at all: after a failure, numbers are not what peers expect. (The host's word
  // is not looked at here: reading it would take longer than a small operation.)
  __device__ bool may_begin_all() const {
    return __syncthreads_or(threadIdx.x == 0 && load_relaxed(&header_->stop) != 0) == 0;
  }

  // Waits, in one thread, until the word carries `number`; false when the block must leave.
  __device__ bool wait_for_number(const std::uint64_t* word, std::uint32_t number, unsigned peer) const {
    for (unsigned look = 0;; ++look) {
      const std::uint64_t seen = load_acquire(word);
      if (number_of(seen) == number) return agrees(seen, peer);
      if (!may_go_on(look, peer)) return false;
    }
  }
  // As wait_for_number, until it carries `number` or one after it; the signature is not compared.
  __device__ bool wait_until_reached(const std::uint64_t* word, std::uint32_t number, unsigned peer) const {
    for (unsigned look = 0;; ++look) {
      if (static_cast<std::int32_t>(number_of(load_acquire(word)) - number) >= 0) return true;
      if (!may_go_on(look, peer)) return false;
    }
  }

  // The first one tells the host, the peer before the trouble.
  __device__ void stop(Trouble trouble, unsigned peer) const {
    if (atomicCAS(&header_->stop, 0u, 1u) != 0 || trouble == Trouble::none) return;
    volatile HostWords* words = task_.words;
    words->peer = static_cast<std::int32_t>(peer);
    __threadfence_system();
    words->trouble = static_cast<std::uint32_t>(trouble);
    __threadfence_system();
  }

 private:
  __device__ bool agrees(std::uint64_t seen, unsigned peer) const {
    if (static_cast<std::uint32_t>(seen) == task_.signature) return true;
    stop(Trouble::disagreement, peer);
    return false;
  }

  __device__ bool may_go_on(unsigned look, unsigned peer) const {
    if (load_relaxed(&header_->stop) != 0) return false;
    if (look % kLooksPerCheck == kLooksPerCheck - 1) {
      if (load_relaxed(&task_.words->abort) != 0) {
        stop(Trouble::none, peer);
        return false;
      }
      if (nanoseconds_now() - start_ > task_.timeout) {
        stop(Trouble::timed_out, peer);
        return false;
      }
    }
    if (look > kEagerLooks) __nanosleep(kSleepNanoseconds);
    return true;
  }

  const Task& task_;
  ArenaHeader* header_;
  std::uint64_t start_;
};

// For all threads of a block, after its first wait, which began then.
__device__ inline void note_first_wait(const Task& task, std::uint64_t begin) {
  if (blockIdx.x != 0 || threadIdx.x != 0 || task.first_wait == nullptr) return;
  *static_cast<volatile std::uint64_t*>(task.first_wait) = nanoseconds_now() - begin;
}

// The rounds of one block in one kernel.
class Rounds {
 public:
  __device__ explicit Rounds(const Task& task)
      : task_(task), block_(task), number_(block_.own_header().rounds[blockIdx.x]) {}

  __device__ bool may_begin_all() const { return block_.may_begin_all(); }

  // Begins the next round; from then on, its regions.
  __device__ void begin() { ++number_; }
  __device__ Regions regions() const { return {task_, region_offset(number_ & 1, blockIdx.x)}; }

  // Signals that this rank's region is written and waits for all peers; false when the block must leave.
  __device__ bool meet_all() {
    __syncthreads();
    const unsigned peer = threadIdx.x;
    const bool has_peer = peer < task_.world && peer != task_.rank;
    const std::uint64_t begin = nanoseconds_now();
    bool failed = false;
    if (has_peer) {
      store_release(&block_.header_of(peer)->arrived[number_ & 1][blockIdx.x][task_.rank],
                    word_of(number_, task_.signature));
      failed =
          !block_.wait_for_number(&block_.own_header().arrived[number_ & 1][blockIdx.x][peer], number_, peer);
    }
    if (__syncthreads_or(failed) != 0) return false;
    if (!has_met_) note_first_wait(task_, begin);
    has_met_ = true;
    return true;
  }

  __device__ void end_all() {
    __syncthreads();
    if (threadIdx.x == 0) block_.own_header().rounds[blockIdx.x] = number_;
  }

 private:
  const Task& task_;
  Block block_;
  std::uint32_t number_;
  bool has_met_ = false;
};

}  // namespace lockstep::comm::p2p
