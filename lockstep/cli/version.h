// What this build is, for --version and for every record that wants to say by what it was made.
#pragma once

#include <string>

namespace lockstep::cli {

std::string version();       // "0.1.0"
std::string version_line();  // "lockstep 0.1.0 (g++ 12.2.0, RelWithDebInfo, git v0.1-3-gabcdef)"

}  // namespace lockstep::cli
