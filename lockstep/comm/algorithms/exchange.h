// What a collective needs besides its operation: the messenger, memory to land messages in, and the sizes at
// which algorithms change.
#pragma once

#include <cstddef>
#include <memory>

#include "lockstep/comm/algorithms/messenger.h"

namespace lockstep::comm {

struct AlgorithmOptions {
  // Messages longer than this are cut into segments, so that one can be reduced while the next travels.
  std::size_t segment_bytes = 512 * 1024;
  // Segments under way at once, in each direction.
  std::size_t lookahead = 4;
  // Payloads up to this size take the way with the fewest steps, larger ones the way with the fewest bytes.
  std::size_t small_bytes = 64 * 1024;
};

// Memory that grows and is reused from operation to operation.
class Scratch {
 public:
  std::byte* take(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset(new std::byte[bytes]);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

struct Exchange {
  Messenger& messenger;
  Scratch& scratch;
  AlgorithmOptions options;

  int rank() const { return messenger.rank(); }
  int world() const { return messenger.world(); }
  // The rank that lies `distance` further in the circle of ranks; negative distances go back.
  int neighbour(int distance) const {
    const int moved = (rank() + distance) % world();
    return moved < 0 ? moved + world() : moved;
  }
};

}  // namespace lockstep::comm
