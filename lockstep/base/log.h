// Messages for people, on standard error: one line each, written in one call so that lines of several ranks
// do not mix. Results never go through here; they belong to standard output.
#pragma once

#include <string_view>

namespace lockstep::base {

void log_info(std::string_view message);
void log_warning(std::string_view message);
// Only when LOCKSTEP_VERBOSE is set.
void log_debug(std::string_view message);

}  // namespace lockstep::base
