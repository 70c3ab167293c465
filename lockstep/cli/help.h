// The help texts, made from the commands' flag tables; they begin with examples.
#pragma once

#include <string>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

std::string program_help(const Commands& commands, const Console& console);
std::string command_help(Command& command, const Console& console);

}  // namespace lockstep::cli
