// Runs a bench as one rank of a run; rank 0 prints.
#pragma once

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/console.h"
#include "lockstep/comm/session.h"

namespace lockstep::cli {

// Returns this rank's exit code.
int run_bench_rank(const BenchOptions& options, const comm::Identity& identity,
                   const comm::Registry& registry, const Console& console);

}  // namespace lockstep::cli
