// Trials: things that are really done, in a process of their own and within a limit, so that a driver that
// hangs or crashes harms nobody.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::cli {

struct TrialResult {
  bool ended = false;  // within the limit, by itself
  int exit_code = -1;  // when it ended; 128+N for a signal
  std::string output;  // the first kilobytes of what it wrote

  bool well() const { return ended && exit_code == 0; }
  // "exit code 1: <last line>", "no answer within the limit".
  std::string complaint() const;
};

// Runs a program found in PATH; standard output and error are collected together.
TrialResult try_program(const std::vector<std::string>& command, base::Nanoseconds limit);

// Runs `body` in a forked process; what it returns is the output, what it throws the output of a failure.
TrialResult try_in_process(const std::function<std::string()>& body, base::Nanoseconds limit);

// Where PATH finds a program; nothing when it does not.
std::optional<std::string> find_program(const std::string& name);

}  // namespace lockstep::cli
