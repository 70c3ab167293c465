// Starts the ranks of a run on this host, watches them and ends them together.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/device/slices.h"

namespace lockstep::launch {

inline constexpr int kMostWorkers = 4096;  // that one launcher starts

struct LaunchOptions {
  int workers = 1;
  std::vector<std::string> command;                // what every rank runs: the program and its arguments
  bool through_mpirun = false;                     // the mpi backend needs ranks that mpirun started
  int threads_per_worker = 0;                      // 0: the cores of a worker
  std::map<std::string, std::string> environment;  // set for every rank besides the rank's own variables
  std::optional<device::Slice> slice;              // every rank is such a slice of a GPU
  std::filesystem::path
      log_directory;  // rankN.log of every rank that wrote anything; empty: default_log_directory()
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
  bool ranks_join = true;        // false: they meet by other means than our server, which then waits for none
  base::Nanoseconds timeout{0};  // a rank that is stopped for so long ends the run; 0: none does
  base::Nanoseconds time_limit{0};                           // of the whole run; 0: none
  base::Nanoseconds grace = std::chrono::milliseconds(500);  // between the polite and the hard end of a rank
  // After SIGINT, SIGTERM or SIGHUP: how long ranks that were sent SIGTERM may go on working together, to
  // write a checkpoint. 0: their communication is ended at once, and `grace` counts.
  base::Nanoseconds wind_down{0};
  // Called while the ranks run, at least kTickInterval apart, and once more when all have ended. Must be
  // quick.
  std::function<void()> on_tick;
  bool quiet = false;     // nothing of what ranks say is passed on; their logs keep it
  std::string line_lead;  // written before every line on standard error: takes a progress line away

  // Throws UsageError.
  void validate() const;
};

inline constexpr base::Nanoseconds kTickInterval = std::chrono::milliseconds(200);

// What the launcher saw go wrong, for a record of the run.
struct LaunchFailure {
  int rank = -1;     // the first failing one; -1: none can be named
  std::string kind;  // "interrupted", "killed", "exited", "never_started", "timed_out" or "output_lost"
  std::string message;
};

struct LaunchResult {
  int exit_code = 0;
  std::optional<LaunchFailure> failure;  // when the exit code is not 0
};

// Runs all ranks to their end and says how that went. Rank 0's standard output is the run's and
// passes through untouched; everything else goes to standard error, each line tagged with its rank. On a
// failure the first failing rank is named with its last lines. SIGINT, SIGTERM and SIGHUP end all ranks. No
// rank outlives this call, nor a killed launcher. Throws UsageError, ConfigError (the command cannot be
// started, the log directory
// cannot be written) or DeviceError (no mpirun) before any rank runs. To be called on the main thread of a
// process that has no others; a command that may run under mpirun begins its main with adopt_rank_output()
// (rank_output.h).
LaunchResult launch_run(const LaunchOptions& options);
// The same; returns the run's exit code.
int launch(const LaunchOptions& options);

}  // namespace lockstep::launch
