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

// Writes record.json into the run's directory, and then the merged events, which are larger and hold nothing
// that the ranks' files do not. Throws StoreError.
void keep_record(const RunDirectory& run, const Conclusion& conclusion);
void keep_events(const RunDirectory& run, const Conclusion& conclusion);

// All of it.
record::RunRecord conclude(const RunDirectory& run, record::RunContext context);

// Of a run whose launcher could not do it: from the ranks' files and launch.json. What is there and whole
// stays as it is. Throws ConfigError for a run that is still alive, StoreError.
struct LateConclusion {
  record::RunRecord record;
  bool made_record = false;  // else it was there
  bool made_events = false;
};
LateConclusion conclude_late(const RunDirectory& run);

// Whether a record and the merged events are there, as far as the ranks have left any. A launcher that was
// killed between the two leaves a record alone. The record may be damaged.
bool is_concluded(const RunDirectory& run);

// Throws ConfigError where there is no record, StoreError where it is damaged or of a later schema.
record::RunRecord read_record(const RunDirectory& run);

}  // namespace lockstep::lab
