// What the process was started with: its variables (nothing in the program calls getenv directly) and place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep::base {

// The variable's value; nothing when it is unset or empty.
std::optional<std::string> environment(const std::string& name);

// The variable as a whole number. Throws ConfigError, naming the variable, when it is set to something else.
std::optional<long> environment_integer(const std::string& name);

// Where the plugins of the running program lie: LOCKSTEP_PLUGIN_DIR, else ../lib/lockstep beside the program.
std::filesystem::path plugin_directory();

}  // namespace lockstep::base
