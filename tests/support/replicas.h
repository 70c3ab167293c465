// Runs a piece of test code as N replicas: threads of this process joined by the local backend.
#pragma once

#include <functional>

#include "lockstep/comm/communicator.h"

namespace lockstep::testing {

// Opens a local group, runs `body` on one thread a replica and reports what any of them threw as a test
// failure.
void expect_replicas_succeed(int replicas, const std::function<void(comm::Communicator&)>& body);

}  // namespace lockstep::testing
