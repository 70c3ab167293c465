// Ranks that were started by hand can be given different flags. They find out before anything is measured,
// and are told which flag it is: otherwise one would wait in an operation that the other never begins.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/comm/session.h"

namespace lockstep::cli {

// What decides which operations a rank runs: a flag and its value, in the order of the help.
using PlanWords = std::vector<std::pair<std::string, std::string>>;
PlanWords plan_words(const BenchOptions& options);

// "--dtype is f64 on rank 1 and f32 on rank 0; ..." or nothing when the plans are the same. `theirs` is text
// that plan_text() made.
std::string plan_difference(const PlanWords& mine, int my_rank, const std::string& theirs, int their_rank);
std::string plan_text(const PlanWords& words);

// Collective: every rank compares its plan with rank 0's. Throws CommError that names the flags that differ.
void require_same_plan(const BenchOptions& options, comm::Session& session);

}  // namespace lockstep::cli
