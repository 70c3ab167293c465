// Our operations as MPI calls.
//
// MPI counts elements in int. Tensors longer than `most_elements` go in pieces; collectives over parts, whose
// offsets would not fit either, then go part by part: a broadcast or a reduction for each rank's.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "lockstep/comm/operation.h"

namespace lockstep::comm {

// MPI's calls for all-reduce; which is fastest depends on the size and the version.
enum class MpiStyle { blocking, non_blocking };

struct MpiGroup {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int world = 1;
  std::size_t most_elements = std::size_t{1} << 30;
  MpiStyle style = MpiStyle::blocking;
};

// Runs a valid operation. Throws CommError when MPI reports one.
void run_mpi(const MpiGroup& group, const Operation& operation);

}  // namespace lockstep::comm
