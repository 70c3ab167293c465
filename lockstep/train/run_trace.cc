#include "lockstep/train/run_trace.h"

#include <fmt/format.h>

#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/own_host.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

fs::path fragment_of(const TracePlace& place, int rank) {
  return place.directory / fmt::format("trace-rank{}.jsonl", rank);
}

void merge(const TracePlace& place, int world, EventLog& events) {
  std::vector<fs::path> fragments;
  for (int rank = 0; rank < world; ++rank) fragments.push_back(fragment_of(place, rank));
  const measure::TraceSummary summary = measure::write_trace(place.trace, fragments);
  if (summary.dropped > 0)
    events.write(record::WarningEvent{
        fmt::format("the trace ends early: {} slices had no room in it", summary.dropped)});
  for (const fs::path& fragment : fragments) fs::remove(fragment);
}

void merge_or_keep_parts(const TracePlace& place, int world, EventLog& events) {
  try {
    merge(place, world, events);
  } catch (const base::Error& error) {
    throw base::StoreError(fmt::format("the trace was not written: {} Its parts are kept in {}.",
                                       error.what(), place.directory.string()));
  }
}

}  // namespace

std::unique_ptr<measure::TraceRecorder> make_trace_recorder(const RunClock& clock, const comm::Group& group) {
  measure::TraceOptions options;
  options.rank = group.rank;
  options.host = comm::host_name_of(group.host);
  options.clock_offset = base::from_seconds(clock.seconds_at(base::TimePoint{}));
  return std::make_unique<measure::TraceRecorder>(options);
}

void write_run_trace(const measure::TraceRecorder& recorder, const TracePlace& place,
                     const comm::Group& group, comm::Communicator* communicator, EventLog& events) {
  recorder.write_fragment(fragment_of(place, group.rank));
  if (communicator != nullptr) communicator->run(comm::barrier());
  if (group.rank == 0) merge_or_keep_parts(place, group.world, events);
}

}  // namespace lockstep::train
