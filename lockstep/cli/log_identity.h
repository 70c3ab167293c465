// Tells a rank of another launcher who it is, and by which source; rank 0 also what the others disagree on.
#pragma once

#include "lockstep/comm/rendezvous/identity.h"

namespace lockstep::cli {

void log_identity(const comm::Identity& identity);

}  // namespace lockstep::cli
