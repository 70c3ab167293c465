// One child process: its own process group, tied to the life of the launcher.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/launch/exit_status.h"

namespace lockstep::launch {

struct ProcessOptions {
  std::vector<std::string> command;                // the program is looked for in PATH
  std::map<std::string, std::string> environment;  // all of it
  std::vector<int> cpus;                           // to be pinned to; empty: as the launcher
  int output_fd = -1;                              // become the child's standard output and error
  int error_fd = -1;
};

class Process {
 public:
  // Starts the program in a process group of its own, with no file but /dev/null, its output and its error
  // open. It is killed when the calling thread ends, however that happens. Throws ConfigError when the
  // program cannot be started.
  explicit Process(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  // Kills the whole group if it still runs.
  ~Process();

  pid_t pid() const { return pid_; }
  // Readable once the process has ended; -1 where the kernel has no such thing.
  int poll_fd() const { return pidfd_.get(); }
  // How it ended; nothing while it runs. What it left in its group is killed.
  std::optional<ExitStatus> status();
  bool ended() const { return status_.has_value(); }
  void signal_group(int signal_number) const;

 private:
  pid_t pid_ = -1;
  base::UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

// A descriptor that is readable once the process has ended; empty where that fails.
base::UniqueFd open_pidfd(pid_t pid);

// Raises what this process and those it starts may use of the stack and of open files, as far as their user
// may.
void raise_limits();
// Throws ConfigError where the stack is too small for a rank all the same.
void require_stack();
// Whether a process is stopped; one that a debugger holds is not.
bool is_stopped(pid_t pid);

// Pins the calling process; whether that worked. Safe between fork and exec.
bool pin_to(const int* cpus, std::size_t count);

}  // namespace lockstep::launch
