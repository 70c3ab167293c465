// Runs a piece of test code as N replicas: threads of this process joined by the local backend.
#pragma once

#include <functional>
#include <memory>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/shared/hands.h"

namespace lockstep::testing {

// Opens a local group, runs `body` on one thread a replica and reports what any of them threw as a test
// failure.
void expect_replicas_succeed(int replicas, const std::function<void(comm::Communicator&)>& body);

// The same with something that moves buffers on a device.
using HandsMaker = std::function<std::unique_ptr<comm::shared::Hands>()>;
void expect_replicas_succeed(int replicas, const HandsMaker& device_hands,
                             const std::function<void(comm::Communicator&)>& body);

}  // namespace lockstep::testing
