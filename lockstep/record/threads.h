// With how many threads each worker of a run computed.
#pragma once

#include <optional>

#include "lockstep/record/record.h"

namespace lockstep::record {

// What the run said when it started, else what its spec asked for; unknown for runs that never started and
// asked for nothing.
std::optional<int> threads_per_worker(const RunRecord& record);

}  // namespace lockstep::record
