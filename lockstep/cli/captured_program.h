// Runs a program to its end and keeps what it prints; its messages go to our standard error.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::cli {

// What it printed. Throws DeviceError, naming `what`, when it cannot be started, fails, or does not end
// within the limit.
std::string output_of(const std::vector<std::string>& command, const std::string& what,
                      base::Nanoseconds limit);

}  // namespace lockstep::cli
