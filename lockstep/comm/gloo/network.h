// Which network address a rank's connections use.
#pragma once

#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// This host's address on the named interface; with an empty name loopback when all ranks are on this host,
// else the address from which the run's master (MASTER_ADDR) is reached, else that of the first interface
// that is no loopback. Throws ConfigError that lists the interfaces there are.
std::string own_address(const Group& group, const std::string& interface);

// "lo, eth0": those that are up and have an address.
std::string interface_names();

}  // namespace lockstep::comm
