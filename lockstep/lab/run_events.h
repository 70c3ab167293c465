// The events that the ranks of a run wrote.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/run_directory.h"
#include "lockstep/record/event.h"

namespace lockstep::lab {

struct RunEvents {
  std::vector<record::Event> merged;  // of all ranks, in the order of time
  std::vector<std::string> damage;    // what could not be read, a sentence each
};

// Reads every rankN.jsonl. A damaged line ends that rank's events there; a last line that was cut short is
// passed over.
RunEvents read_run_events(const RunDirectory& run);

bool has_rank_files(const RunDirectory& run);

// Whether the rank has said that it finished or failed.
bool has_ended(const RunDirectory& run, int rank);

}  // namespace lockstep::lab
