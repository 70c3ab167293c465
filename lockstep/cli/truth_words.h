// Flags that are true or false: --measure, --no-measure, --measure false and --measure=false all reach the
// parser as --measure=VALUE, so that the last one typed counts.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cli/flag.h"

namespace lockstep::cli {

// `arguments` have dashes already; what follows a bare `--` stays.
std::vector<std::string> with_truth_values(const std::vector<std::string>& arguments,
                                           const std::vector<Flag>& flags);

}  // namespace lockstep::cli
