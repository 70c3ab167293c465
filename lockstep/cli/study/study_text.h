// What `lockstep study` prints: the list of studies, a plan, an outcome; for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lockstep/cli/console.h"
#include "lockstep/lab/study_runner.h"

namespace lockstep::cli {

std::string list_text(const Console& console);
nlohmann::ordered_json list_json();

// The cells in the order in which they will run, with an estimate each, and what cannot run here and why.
std::string plan_text(const lab::StudyPlan& plan, const Console& console);
// The same, ending with what earlier sittings left to do.
std::string resumed_plan_text(const lab::StudyPlan& plan, const lab::StudyState& state,
                              const Console& console);
nlohmann::ordered_json plan_json(const lab::StudyPlan& plan);

std::string outcome_text(const lab::StudyPlan& plan, const lab::StudyOutcome& outcome,
                         const Console& console);
nlohmann::ordered_json outcome_json(const lab::StudyPlan& plan, const lab::StudyOutcome& outcome);

// Whether any cell failed.
bool has_failures(const lab::StudyOutcome& outcome);

}  // namespace lockstep::cli
