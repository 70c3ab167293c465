// The bash completion script, made from the same flag tables as parsing and help.
#pragma once

#include <string>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

std::string bash_completion(const Commands& commands);

}  // namespace lockstep::cli
