// One worker as our child, its output being ours: for rank 0 under another launcher.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/launch/launcher.h"

namespace lockstep::cli {

struct WatchedWorkerOptions {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;            // all of it
  base::Nanoseconds wind_down{0};                            // between SIGTERM and SIGKILL after a signal
  base::Nanoseconds stopped_limit = std::chrono::hours(24);  // how long it may be stopped (SIGSTOP)
  bool by_hand = false;           // nobody passes on to us what was sent to the whole run
  std::function<void()> on_tick;  // as LaunchOptions has it
};

// Waits until the worker has ended; signals that would end us are handed to it as SIGTERM. The exit code is
// the worker's, or 128+N when it or we got signal N; the failure's message is the error that it told of,
// which then stands on our standard error, and its rank the one that the error blames. Throws ConfigError
// when it cannot be started.
launch::LaunchResult watch_worker(const WatchedWorkerOptions& options);

}  // namespace lockstep::cli
