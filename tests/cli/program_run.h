// Runs the real program through a shell and keeps what it said.
#pragma once

#include <string>

namespace lockstep::testing {

struct ProgramRun {
  int exit_code = -1;  // of the shell; 124 when it was ended after the limit
  std::string out;
  std::string err;
};

// The program's path, quoted for a shell.
std::string program();

// Runs a shell command line. It is ended, with everything it started, after `limit_seconds`.
ProgramRun run_shell(const std::string& command, int limit_seconds = 60);

// `lockstep <arguments>`.
ProgramRun run_lockstep(const std::string& arguments, int limit_seconds = 60);

}  // namespace lockstep::testing
