// The definitions come from CMakeLists.txt; only this file is compiled again when they change.
#include "lockstep/cli/version.h"

#include "lockstep/cli/git_description.h"

namespace lockstep::cli {

std::string version() {
  return LOCKSTEP_VERSION;
}

std::string version_line() {
  const std::string git = LOCKSTEP_GIT_DESCRIPTION;
  return "lockstep " LOCKSTEP_VERSION " (" LOCKSTEP_COMPILER ", " LOCKSTEP_BUILD_TYPE +
         (git.empty() ? "" : ", git " + git) + ")";
}

}  // namespace lockstep::cli
