// What a spec asks of engine torch and PyTorch does not have. The engine refuses it too, in the same words
// (engines/torch/torch_engine/run_spec.py), for those who start it alone.
#pragma once

#include <vector>

#include "lockstep/record/catalogue_resolve.h"
#include "lockstep/record/catalogue_rules.h"

namespace lockstep::record {

// `run` is what the spec resolves to. Empty for other engines.
std::vector<Problem> torch_problems(const RunSpec& spec, const Combination& run);

}  // namespace lockstep::record
