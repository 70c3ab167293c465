// Runs a program to its end and keeps what it prints.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/launch/exit_status.h"

namespace lockstep::cli {

struct Captured {
  std::string output;
  std::string error;  // its messages
  launch::ExitStatus status;
};
// However it ended. Throws DeviceError, naming `what`, when it cannot be started or does not end within the
// limit (it is killed then).
Captured capture(const std::vector<std::string>& command, const std::string& what, base::Nanoseconds limit);

// What it printed; its messages go to our standard error. Throws DeviceError, naming `what`, when it cannot
// be started, fails, or does not end within the limit.
std::string output_of(const std::vector<std::string>& command, const std::string& what,
                      base::Nanoseconds limit);

}  // namespace lockstep::cli
