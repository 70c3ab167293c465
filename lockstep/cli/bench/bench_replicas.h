// Runs a bench of backend local: every replica is a thread of this process.
#pragma once

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/console.h"
#include "lockstep/comm/registry.h"

namespace lockstep::cli {

// Returns the exit code; throws what the first failing replica threw.
int run_bench_replicas(const BenchOptions& options, int replicas, const comm::Registry& registry,
                       const Console& console);

}  // namespace lockstep::cli
