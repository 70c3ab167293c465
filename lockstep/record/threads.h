// What a run asked of the cores of one host: workers there, and threads of each.
#pragma once

#include <optional>

#include "lockstep/record/record.h"

namespace lockstep::record {

// What the run said when it started, else what its spec asked for; unknown for runs that never started and
// asked for nothing.
std::optional<int> threads_per_worker(const RunRecord& record);

// How many workers shared the cores that the record's machine has: those of that host alone.
int workers_on_host(const RunRecord& record);

}  // namespace lockstep::record
