// The end of a run: its ranks' events become record.json.
#pragma once

#include "lockstep/lab/run_directory.h"
#include "lockstep/record/record_builder.h"

namespace lockstep::lab {

// Reads the events of all ranks, builds the record, and writes it and the merged events into the run's
// directory. `context` needs no id and no spec: they are the directory's. What the launcher's machine lacks
// (the GPU, the engine's libraries) is taken from rank 0's. Works on whatever the ranks have left behind.
// Throws StoreError.
record::RunRecord conclude(const RunDirectory& run, record::RunContext context);

// Throws StoreError: no record, a damaged one, or one of a later schema.
record::RunRecord read_record(const RunDirectory& run);

}  // namespace lockstep::lab
