// The collectives over parts: reduce-scatter, all-gather, gather and scatter.
#pragma once

#include "lockstep/comm/mpi/mpi_collectives.h"

namespace lockstep::comm {

void mpi_reduce_scatter(const MpiGroup& group, const Operation& operation);
void mpi_all_gather(const MpiGroup& group, const Operation& operation);
void mpi_gather(const MpiGroup& group, const Operation& operation);
void mpi_scatter(const MpiGroup& group, const Operation& operation);

}  // namespace lockstep::comm
