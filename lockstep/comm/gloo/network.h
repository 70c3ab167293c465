// Which network address gloo listens on.
#pragma once

#include <gloo/transport/device.h>

#include <memory>
#include <string>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// A device on the named interface; with an empty name on loopback when all ranks are on this host, else on
// the interface that leads to the run's master (MASTER_ADDR), else on the one of the host's own name. Throws
// ConfigError that lists the interfaces there are.
std::shared_ptr<gloo::transport::Device> make_device(const Group& group, const std::string& interface);

// "lo, eth0": those that are up and have an address.
std::string interface_names();

}  // namespace lockstep::comm
