// The end of a run: its ranks' events become record.json.
#pragma once

#include "lockstep/lab/run_directory.h"
#include "lockstep/record/record_builder.h"

namespace lockstep::lab {

struct Conclusion {
  record::RunRecord record;
  std::vector<record::Event> events;  // of all ranks, in the order of time
};

// Reads the events of all ranks and builds the record; writes nothing. `context` needs no id and no spec:
// they are the directory's, as is where it belongs in a study. What the launcher's machine lacks (the GPU,
// the engine's libraries) is taken from rank 0's. Works on whatever the ranks have left behind.
Conclusion merge_run(const RunDirectory& run, record::RunContext context);

// Writes the merged events and then record.json into the run's directory: a run that has a record has all.
// Throws StoreError.
void keep(const RunDirectory& run, const Conclusion& conclusion);

// Both.
record::RunRecord conclude(const RunDirectory& run, record::RunContext context);

// Throws ConfigError where there is no record, StoreError where it is damaged or of a later schema.
record::RunRecord read_record(const RunDirectory& run);

}  // namespace lockstep::lab
