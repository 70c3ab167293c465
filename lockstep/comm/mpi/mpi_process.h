// MPI's life in this process: initialised once, when the first communicator is opened, and finalised when the
// process ends well.
#pragma once

#include <mpi.h>

#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// Initialises MPI if nobody has, confined to shared memory where the group is of one host, else to the
// network interface that is named, if one is. Throws DeviceError when the process was not started by mpirun,
// since Open MPI cannot let such a process join others, and when MPI offers no use from several threads.
void start_mpi(const Group& group, const std::string& interface);

// From any thread: a peer has failed, so MPI_Finalize, which waits for all ranks, must not be called.
void skip_finalise() noexcept;

// "Open MPI 4.1.4"
std::string mpi_version();

// Whether mpirun started this process.
bool started_by_mpirun();

}  // namespace lockstep::comm
