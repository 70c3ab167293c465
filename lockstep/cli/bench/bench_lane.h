// A lane: one backend with one kind of memory, and the cells' operations on it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lockstep/cli/bench/bench_result.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::cli {

// What all cells need at most, in bytes; a cache line where they need nothing, so that no allocation is
// empty.
struct LaneBytes {
  std::size_t whole = 64;  // a whole tensor
  std::size_t part = 64;   // one rank's part of one
};
LaneBytes largest_bytes(const std::vector<Cell>& cells, int world);

// The memory one lane moves; a cell uses the beginning of it.
struct LaneMemory {
  comm::Allocation whole;
  comm::Allocation part;
};

// One rank's view of a lane. The communicator and the memory are shared with other lanes and outlive it.
class Lane {
 public:
  Lane(comm::Communicator& communicator, const LaneMemory& memory)
      : communicator_(communicator), memory_(memory) {}

  // The cell's operation on this rank; none where this rank has no part in it (send among an odd number of
  // ranks).
  std::optional<comm::Operation> operation(const Cell& cell) const;
  // Puts the cell's input in place and spoils the rest.
  void prepare(const Cell& cell);
  // How many elements of this rank's output are wrong after one operation on prepared memory.
  std::size_t count_wrong(const Cell& cell);

  comm::Communicator& communicator() { return communicator_; }

 private:
  comm::Buffer whole(const Cell& cell) const;
  comm::Buffer part(const Cell& cell) const;
  int rank() const { return communicator_.group().rank; }
  int world() const { return communicator_.group().world; }

  comm::Communicator& communicator_;
  const LaneMemory& memory_;
};

}  // namespace lockstep::cli
