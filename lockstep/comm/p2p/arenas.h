// The arenas of a group: this rank's own, and the peers', mapped into this process by CUDA IPC; and what its
// ranks agree on when they are exchanged: how they wait for each other, and through which words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lockstep/comm/cuda/stream_communicator.h"
#include "lockstep/comm/p2p/peer_facts.h"
#include "lockstep/comm/p2p/plan.h"
#include "lockstep/comm/p2p/shared_words.h"
#include "lockstep/device/cuda/cuda_memory.h"

namespace lockstep::comm::p2p {

class Arenas {
 public:
  // Collective. Throws ConfigError for ranks that cannot be joined, on every rank or as a CommError that
  // names the rank that found it. `process` is this process's own number (PeerFacts).
  Arenas(const StreamPlace& place, std::uint64_t process, base::Deadline deadline);
  // Unmaps the peers' arenas, unless close() has.
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  // By rank, as this process sees it.
  std::byte* of(int rank) const { return mapped_[static_cast<std::size_t>(rank)]; }
  std::size_t bytes() const { return own_.bytes(); }  // of this rank's own
  Waiting waiting() const { return waiting_; }
  const Limits& limits() const { return limits_; }
  bool shares_a_gpu() const { return shares_a_gpu_; }
  // The group's words, once; null for one rank alone.
  std::unique_ptr<SharedWords> take_words() { return std::move(words_); }

  // Collective, when nothing of this rank's is on the device any more: unmaps the peers' arenas, and frees
  // the own one when every peer has done the same. Where one has not within a while, the own arena stays:
  // memory that somebody may still use is not freed before the process ends.
  void close(const StreamPlace& place) noexcept;
  // After a failure: unmaps and frees nothing, since kernels here or of peers may still use it. It goes with
  // the process.
  void abandon() noexcept;

 private:
  void agree(const std::vector<PeerFacts>& all);
  void make_own(const StreamPlace& place, Store& store);
  void map_peers(const StreamPlace& place, Store& store, const std::vector<PeerFacts>& all,
                 base::Deadline deadline);
  void map_words(const StreamPlace& place, Store& store, base::Deadline deadline);
  void unmap_peers() noexcept;

  int rank_;
  device::cuda::Memory own_;
  std::vector<std::byte*> mapped_;
  Waiting waiting_ = Waiting::blocks;
  Limits limits_;
  bool shares_a_gpu_ = false;
  std::unique_ptr<SharedWords> words_;
};

}  // namespace lockstep::comm::p2p
