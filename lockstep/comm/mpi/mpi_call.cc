#include "lockstep/comm/mpi/mpi_call.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::comm {

std::string mpi_error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

void check_mpi(int code, int rank, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  // Open MPI reports a connection that broke as an internal or "other" error.
  const bool lost = error_class == MPI_ERR_OTHER || error_class == MPI_ERR_INTERN;
  using Kind = base::CommError::Kind;
  throw base::CommError(lost ? Kind::peer_lost : Kind::failed,
                        fmt::format("rank {}: {} over mpi failed: {}{}", rank, what, mpi_error_text(code),
                                    lost ? ", most likely because another rank ended; look at its log" : ""));
}

}  // namespace lockstep::comm
