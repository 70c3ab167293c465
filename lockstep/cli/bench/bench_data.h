// Inputs and expected outputs of a bench. Pure.
//
// Every value is a small whole number, chosen so that the sum over all ranks, and every partial sum on the
// way, stays at or below 255: then u8 does not wrap and f16 and bf16 are exact in any order. The numbers
// repeat with a prime period, so that a piece that lands one buffer part, page or cache line off is found.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "lockstep/cli/bench/bench_plan.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::cli {

// A periodic sequence of elements of one type.
class Pattern {
 public:
  // `value(i)` is the element at every index that is i modulo the period; from 0 to 255.
  Pattern(comm::ElementType type, const std::function<int(std::size_t)>& value);

  // Writes `count` elements, the first being the sequence's element `first`.
  void fill(std::byte* to, std::size_t count, std::size_t first = 0) const;
  // How many of `count` elements are not those of the sequence from `first` on.
  std::size_t count_wrong(const std::byte* from, std::size_t count, std::size_t first = 0) const;

 private:
  std::size_t element_bytes_;
  std::vector<std::byte>
      tile_;                  // several periods, and one more so that a run may begin anywhere in the first
  std::size_t run_elements_;  // elements that can be taken from any beginning in the first period
};

// What rank `rank` puts into a cell's reduction, and what comes out.
Pattern reduce_input(const Cell& cell, int rank, int world);
Pattern reduce_output(const Cell& cell, int world);
// What rank `rank` puts into a collective that only moves.
Pattern moved_data(const Cell& cell, int rank);

// The bytes of a small whole number in a type; exact from 0 to 255.
void encode(int value, comm::ElementType type, std::byte* to);

}  // namespace lockstep::cli
