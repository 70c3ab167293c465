// The bench's JSON document, schema 1; docs/bench.md describes every field.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "lockstep/cli/bench/bench_result.h"

namespace lockstep::cli {

nlohmann::ordered_json bench_json(const BenchReport& report);

}  // namespace lockstep::cli
