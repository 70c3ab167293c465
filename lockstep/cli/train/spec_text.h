// A spec as people read it, and as `lockstep train FILE` takes it again.
#pragma once

#include <string>

#include "lockstep/record/spec.h"

namespace lockstep::cli {

// YAML: every field that is set, under the headings of the help.
std::string yaml_of(const record::RunSpec& spec);

}  // namespace lockstep::cli
