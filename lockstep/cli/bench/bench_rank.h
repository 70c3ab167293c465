// Runs a bench as one rank of a run; rank 0 prints.
#pragma once

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/bench/bench_result.h"
#include "lockstep/cli/console.h"
#include "lockstep/comm/session.h"

namespace lockstep::cli {

// Returns this rank's exit code.
int run_bench_rank(const BenchOptions& options, const comm::Identity& identity,
                   const comm::Registry& registry, const Console& console);

// Prints the report as a table or as JSON; a reader that has gone away ends it quietly. Then throws
// VerificationError or ThresholdError if there is reason to.
void conclude_bench(const BenchOptions& options, const BenchReport& report, const Console& console);

}  // namespace lockstep::cli
