// Runs a study: one run after the other until every cell has ended, time is up, or a signal comes. Nothing
// that has ended is lost when it is killed: every run's directory stands for itself.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lockstep/lab/study_store.h"

namespace lockstep::lab {

// How a run of a study is followed.
struct StudyWatcher {
  // Before the first run, with what earlier sittings left.
  std::function<void(const StudyState&)> on_begin;
  // Before each run: what runs, and a watcher for it.
  std::function<RunWatcher(const StudyState&, const NextRun&, const RunDirectory&)> on_run;
  // After it.
  std::function<void(const StudyState&, const NextRun&, const record::RunRecord&)> on_ended;
};

struct StudyOptions {
  std::filesystem::path store;
  bool resume = false;  // go on with earlier runs of this version; they are refused otherwise
  bool fresh = false;   // remove them first, and those of other versions of the study
  std::optional<base::Nanoseconds> budget;  // over the study's own
  nlohmann::json machine;                   // the launcher's, for the records
};

struct StudyOutcome {
  enum class End { done, budget, interrupted };
  End end = End::done;
  int exit_code = 0;  // of the signal that ended it, else 0
  int runs = 0;       // that this sitting made
  int kept = 0;       // that earlier sittings had made
  int of_other_versions = 0;
  int removed = 0;             // of earlier runs, to begin anew
  std::vector<CellEnd> cells;  // how each ended, in the plan's order
  std::vector<int> repeats;    // how many runs each has
};

// Throws ConfigError when there are earlier runs and it was not said what to do with them, StoreError when
// the store cannot be written. To be called on the main thread of a process that has no others.
StudyOutcome run_study(const StudyPlan& plan, const StudyOptions& options, const StudyWatcher& watcher);

}  // namespace lockstep::lab
