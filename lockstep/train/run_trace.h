// The trace of a run (`--trace FILE`): what every rank records, and how one file is made of it.
#pragma once

#include <filesystem>
#include <memory>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/trace.h"
#include "lockstep/train/event_log.h"

namespace lockstep::train {

// For one rank; all ranks' times are counted from the start of the run.
std::unique_ptr<measure::TraceRecorder> make_trace_recorder(const RunClock& clock, const comm::Group& group);

struct TracePlace {
  std::filesystem::path trace;      // what rank 0 writes
  std::filesystem::path directory;  // of the run: where the ranks' fragments meet
};

// Collective. Returns when this rank's fragment is written; on rank 0, when the trace is, and the fragments
// are gone. `communicator` is null for one worker. Throws StoreError; the fragments then stay.
void write_run_trace(const measure::TraceRecorder& recorder, const TracePlace& place,
                     const comm::Group& group, comm::Communicator* communicator, EventLog& events);

}  // namespace lockstep::train
