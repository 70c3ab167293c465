// Reading environment variables; nothing in the program calls getenv directly.
#pragma once

#include <optional>
#include <string>

namespace lockstep::base {

// The variable's value; nothing when it is unset or empty.
std::optional<std::string> environment(const std::string& name);

// The variable as a whole number. Throws ConfigError, naming the variable, when it is set to something else.
std::optional<long> environment_integer(const std::string& name);

}  // namespace lockstep::base
