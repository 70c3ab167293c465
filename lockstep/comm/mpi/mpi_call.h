// Open MPI's C interface, wrapped once: codes become CommError.
#pragma once

#include <mpi.h>

#include <string>

namespace lockstep::comm {

// What MPI says about a code.
std::string mpi_error_text(int code);

// Throws CommError (peer_lost where MPI says that a process is gone) that names `what` and this rank.
void check_mpi(int code, int rank, const std::string& what);

}  // namespace lockstep::comm
