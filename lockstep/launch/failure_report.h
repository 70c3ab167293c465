// What is said about a failed run, and the exit code it gives. Pure functions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/launch/exit_status.h"

namespace lockstep::launch {

struct FailureFacts {
  std::string message;                  // names the rank and the cause
  int rank = -1;                        // the first failing one; -1: none can be named
  std::vector<std::string> last_lines;  // that it wrote
  std::vector<int> collateral;          // ranks that were ended because of it
  std::filesystem::path log_directory;  // empty: no logs were kept
};

// The lines to print, once.
std::vector<std::string> failure_report(const FailureFacts& facts);

// Whether a rank's exit code is one of those that mean something to the user and pass through.
bool is_own_exit_code(int code);

// Whether the rank has told by itself what went wrong: with an exit code of ours and an "error: " line.
bool has_explained_itself(const ExitStatus& status, const std::vector<std::string>& last_lines);

// The run's exit code: the verdict's, unless that only says "failed" and the rank's own says more.
int exit_code_of_failure(int verdict_code, const std::optional<ExitStatus>& first_failing);

}  // namespace lockstep::launch
