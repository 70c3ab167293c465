// Turns the merged events of all ranks into a RunRecord: a pure function, so that the launcher, a re-index
// and the tests all get the same record from the same files.
#pragma once

#include <span>

#include "lockstep/record/event.h"
#include "lockstep/record/record.h"

namespace lockstep::record {

// What the events do not say.
struct RunContext {
  std::string id;
  RunSpec spec;
  std::optional<std::string> study;
  std::optional<std::string> cell;
  std::optional<std::int64_t> repeat;
  std::optional<nlohmann::json> machine;  // the launcher's; else rank 0's own
  std::optional<int> local_world;         // workers on that machine; else all
  std::optional<double> commanded_at;     // when the command began: seconds since 1970
  std::optional<double> total_seconds;    // of the whole command
  bool until_last_event = false;          // instead of total_seconds, which nobody knows
  std::optional<FailureFigures> failure;  // what the launcher saw: a rank killed before it could say anything
};

// `merged` is in the order of time (merge_events). Works on any prefix of a stream: a run without its end is
// "interrupted".
RunRecord build_record(const RunContext& context, std::span<const Event> merged);

}  // namespace lockstep::record
