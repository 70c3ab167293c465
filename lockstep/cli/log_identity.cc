#include "lockstep/cli/log_identity.h"

#include <stdlib.h>

#include "lockstep/base/log.h"
#include "lockstep/comm/rendezvous/own_host.h"
#include "lockstep/comm/rendezvous/run_client.h"

namespace lockstep::cli {

void log_identity(const comm::Identity& identity) {
  base::log_debug(comm::describe(identity));
  if (identity.group.rank != 0) return;
  for (const std::string& disagreement : identity.disagreements) base::log_warning(disagreement);
}

void use_interface(const std::string& interface) {
  if (interface.empty()) return;
  (void)comm::routable_address(interface);
  ::setenv(comm::kInterfaceVariable, interface.c_str(), 1);
}

}  // namespace lockstep::cli
