// Runs a program to its end and keeps what it prints.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/launch/exit_status.h"
#include "lockstep/launch/signals.h"

namespace lockstep::cli {

struct Captured {
  std::string output;
  std::string error;  // its messages
  launch::ExitStatus status;
};
// However it ended. Throws CommError (timed out), naming `what`, when it does not end within the limit, and
// Error with the signal's exit code when `signals` (which may be null) has seen one; it is killed then.
Captured capture(const std::vector<std::string>& command, const std::string& what, base::Nanoseconds limit,
                 const launch::SignalWatch* signals = nullptr);

// What it printed; its messages go to our standard error. Throws DeviceError, naming `what`, when it fails,
// and CommError when it does not end within the limit.
std::string output_of(const std::vector<std::string>& command, const std::string& what,
                      base::Nanoseconds limit);

}  // namespace lockstep::cli
