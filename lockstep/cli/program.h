// The program: reads the command line, runs the command, and turns whatever goes wrong into one message and
// an exit code.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

// All commands, in the order in which the help lists them.
Commands make_commands();

// `arguments` are those after the program's name. Never throws.
int run_program(const std::vector<std::string>& arguments) noexcept;

}  // namespace lockstep::cli
