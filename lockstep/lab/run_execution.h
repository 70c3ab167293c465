// One run from its directory to its record: what `lockstep train` and studies share.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/launch/launcher.h"

namespace lockstep::lab {

struct RunRequest {
  int processes = 1;
  std::vector<std::string> command;                // what starts a worker; `train --run DIR` follows it
  std::map<std::string, std::string> environment;  // for every rank
  std::optional<device::Slice> slice;              // that every rank is
  std::filesystem::path log_directory;             // empty: in the run's directory
  base::Nanoseconds join_timeout = std::chrono::seconds(120);
  base::Nanoseconds wind_down = std::chrono::seconds(10);  // after a signal, to write a checkpoint
  bool quiet = false;                                      // what ranks say goes to their logs only
};

// How others follow it.
struct RunWatcher {
  std::function<void()> on_tick;
  std::string line_lead;
};

// What is known when the ranks have ended.
struct RunOutcome {
  launch::LaunchResult result;
  base::Nanoseconds total{0};           // of the whole command
  std::optional<int> local_world = {};  // workers on this host; else all
};

// Starts the ranks of a run whose directory is made, and waits for their end. Throws what launch_run throws.
launch::LaunchResult execute_run(const RunDirectory& run, const RunRequest& request,
                                 const RunWatcher& watcher);

struct ConcludedRun {
  record::RunRecord record;
  std::string trouble;    // why the record cannot be kept; empty when it is
  std::string no_events;  // why the merged events beside it cannot; empty when they are
};

// What is known of a run when its command has been at work since `start`.
RunLaunch launch_of(base::TimePoint start, const nlohmann::json& machine,
                    std::optional<int> local_world = {});

// Makes the record, keeps it and notes it in the store's index; then keeps the merged events. `machine` is
// the launcher's.
ConcludedRun conclude_run(const RunDirectory& run, const RunOutcome& outcome, const nlohmann::json& machine);

}  // namespace lockstep::lab
