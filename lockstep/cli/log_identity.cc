#include "lockstep/cli/log_identity.h"

#include "lockstep/base/log.h"

namespace lockstep::cli {

void log_identity(const comm::Identity& identity) {
  base::log_debug(comm::describe(identity));
  if (identity.group.rank != 0) return;
  for (const std::string& disagreement : identity.disagreements) base::log_warning(disagreement);
}

}  // namespace lockstep::cli
