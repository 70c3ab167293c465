// Our element types and reductions as MPI's. MPI has no 16-bit floats: those get a datatype of two bytes and
// operations that call our own kernels.
#pragma once

#include <mpi.h>

#include "lockstep/comm/operation.h"

namespace lockstep::comm {

MPI_Datatype mpi_type(ElementType type);
// `mean` is a sum here; the division follows by finish_mean().
MPI_Op mpi_op(ReduceOp op, ElementType type);

}  // namespace lockstep::comm
