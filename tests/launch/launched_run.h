// A launcher with its ranks as a test sees it: started as a process, its output caught, its ranks known by
// number.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tests/launch/temporary_directory.h"

namespace lockstep::launch {

class LaunchedRun {
 public:
  struct Result {
    int exit_code = -1;  // 128 + N when the launcher itself died by a signal
    std::string output;
    std::string error;
    double seconds = 0;
  };

  // `settings` as launch_probe takes them; `actions` as rank_probe does, in which "@" becomes the run's
  // directory.
  LaunchedRun(std::vector<std::string> settings, std::vector<std::string> actions);
  // Ends the launcher if it still runs.
  ~LaunchedRun();

  // Waits for the launcher's end; fails the test when that does not come.
  Result wait();
  void signal(int number) const;
  pid_t pid() const { return pid_; }

  // Waits until all of `world` ranks have done their "pid=@" action.
  std::vector<pid_t> rank_pids(int world) const;
  // Waits for a file in the run's directory, and reads it.
  std::string await_file(const std::string& name) const;
  void make_file(const std::string& name) const;
  const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  bool waited_ = false;
  std::chrono::steady_clock::time_point start_;
};

// Runs to the end.
LaunchedRun::Result run_ranks(std::vector<std::string> settings, std::vector<std::string> actions);

// Whether a file or directory is removed within a generous time.
bool vanishes_soon(const std::filesystem::path& path);

// Whether the process ends (a zombie has) within a generous time.
bool ends_soon(pid_t pid);

}  // namespace lockstep::launch
