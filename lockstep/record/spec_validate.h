// What must hold between the fields of a spec. Single values are checked where they are set (spec_rule.h).
#pragma once

#include <vector>

#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/record/catalogue_rules.h"
#include "lockstep/record/spec.h"

namespace lockstep::record {

// Everything wrong with the spec here; empty when it can be run.
std::vector<Problem> problems_of(const RunSpec& spec, const Surroundings& surroundings);

// Throws ConfigError with every problem, one a line.
void require_valid(const RunSpec& spec, const Surroundings& surroundings);

}  // namespace lockstep::record
