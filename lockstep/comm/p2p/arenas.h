// The arenas of a group: this rank's own, and the peers', mapped into this process by CUDA IPC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/comm/cuda/stream_communicator.h"
#include "lockstep/comm/p2p/peer_facts.h"
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
  std::uint32_t most_blocks() const { return most_blocks_; }

  // Collective, when nothing of this rank's is on the device any more: unmaps the peers' arenas, and frees
  // the own one when every peer has done the same. Where one has not within a while, the own arena stays:
  // memory that somebody may still use is not freed before the process ends.
  void close(const StreamPlace& place) noexcept;
  // After a failure: unmaps and frees nothing, since kernels here or of peers may still use it. It goes with
  // the process.
  void abandon() noexcept;

 private:
  void map_peers(const StreamPlace& place, const std::vector<PeerFacts>& all);
  void unmap_peers() noexcept;

  int rank_;
  device::cuda::Memory own_;
  std::vector<std::byte*> mapped_;
  std::uint32_t most_blocks_ = 1;
};

}  // namespace lockstep::comm::p2p
