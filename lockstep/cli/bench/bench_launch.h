// Starts the ranks of a bench on this host: each runs the same command line again.
#pragma once

#include <string>
#include <vector>

#include "lockstep/cli/bench/bench_options.h"

namespace lockstep::cli {

// Returns the run's exit code. `arguments` are those after the program's name.
int launch_bench(const BenchOptions& options, int workers, const std::vector<std::string>& arguments);

}  // namespace lockstep::cli
