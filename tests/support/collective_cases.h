// The matrix of collectives: what each case puts in, what must come out, and how a rank runs one. Inputs are
// small whole numbers chosen so that sums and means are exact in every type, whatever the order of summation.
#pragma once

#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::testing {

struct CollectiveCase {
  comm::Collective collective = comm::Collective::all_reduce;
  comm::ElementType type = comm::ElementType::f32;
  comm::ReduceOp op = comm::ReduceOp::sum;
  std::size_t elements = 1;  // per rank
  bool owned = false;        // buffers from the communicator, or private ones
  bool in_place = false;
  bool unequal = false;  // parts of unequal size, one of them empty
  bool asynchronous = false;
};

std::string describe(const CollectiveCase& test);

// All cases of the matrix, or a pairwise choice of them.
std::vector<CollectiveCase> collective_cases(bool full);

// Memory for the cases of one group: an input and an output area of either kind. Collective.
class CaseMemory {
 public:
  CaseMemory(comm::Communicator& communicator, std::size_t largest_bytes_per_rank);
  void* input(bool owned) { return owned ? owned_input_.data() : private_input_.data(); }
  void* output(bool owned) { return owned ? owned_output_.data() : private_output_.data(); }
  comm::Place place(bool owned) const { return owned ? owned_input_.place() : comm::Place::host; }
  // Where the test itself writes and reads: the same memory, or a copy of it where that is on a device.
  std::byte* input_shadow(bool owned) { return shadow(input(owned), private_input_, owned); }
  std::byte* output_shadow(bool owned) { return shadow(output(owned), private_output_, owned); }

 private:
  std::byte* shadow(void* memory, std::vector<std::byte>& copy, bool owned) const {
    return place(owned) == comm::Place::device ? copy.data() : static_cast<std::byte*>(memory);
  }

  comm::Allocation owned_input_, owned_output_;
  std::vector<std::byte> private_input_, private_output_;
};

// Runs one case on this rank and throws when a result is wrong. Collective.
void run_case(comm::Communicator& communicator, CaseMemory& memory, const CollectiveCase& test);

// One element as a number, read from or written to memory of any type.
double read_element(const void* data, comm::ElementType type, std::size_t index);
void write_element(void* data, comm::ElementType type, std::size_t index, double value);

}  // namespace lockstep::testing
