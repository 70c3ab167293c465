// Whether two specs are of one run: those of its ranks, and that of the run whose checkpoint is resumed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lockstep/record/spec.h"

namespace lockstep::train {

// The fields that make the run what it is, where they differ from their defaults. Not among them: where files
// lie, how long to wait, and limits; with the cosine schedule, whose rate depends on where it ends, epochs
// and steps are.
nlohmann::json lasting_fields(record::RunSpec spec);

// "learning_rate is 0.5 here and 0.01 in the checkpoint" for every field in which two specs in canonical form
// differ; empty when there is none. `where` says whose the other one is.
std::string differences(const nlohmann::json& here, const nlohmann::json& there, std::string_view where);

}  // namespace lockstep::train
