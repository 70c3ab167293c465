// What a spec asks of its model's inside, and the model does not have.
#pragma once

#include <vector>

#include "lockstep/record/catalogue_rules.h"
#include "lockstep/record/spec.h"

namespace lockstep::record {

std::vector<Problem> model_problems(const RunSpec& spec);

}  // namespace lockstep::record
