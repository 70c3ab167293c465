// The bench's table, in the manner of nccl-tests: comment lines begin with '#', one block per collective and
// lane.
#pragma once

#include <string>

#include "lockstep/cli/bench/bench_result.h"

namespace lockstep::cli {

std::string bench_table(const BenchReport& report);

}  // namespace lockstep::cli
