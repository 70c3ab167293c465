// What ranks are told of themselves and of the network.
#pragma once

#include <string>

#include "lockstep/comm/rendezvous/identity.h"

namespace lockstep::cli {

// Tells a rank of another launcher who it is, and by which source; rank 0 also what the others disagree on.
void log_identity(const comm::Identity& identity);

// Hands --interface on to every process that this one starts. Throws ConfigError when there is no such
// interface. To be called before there are threads.
void use_interface(const std::string& interface);

}  // namespace lockstep::cli
