// The real program as a test sees it that disturbs it: started in the background with its files in a place of
// its own, its ranks known by number, and what it leaves behind looked for afterwards.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::testing {

// A place for everything that programs of one test write: home, temporary files, logs. Goes with its
// contents.
class Habitat {
 public:
  Habitat();
  ~Habitat();
  Habitat(const Habitat&) = delete;
  Habitat& operator=(const Habitat&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Every process that lives in it has this in its environment, whoever its parent is by now.
  const std::string& mark() const { return mark_; }
  std::vector<pid_t> inhabitants() const;
  // What is there, relative, besides the logs, the kept runs, and the output that the test itself catches.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
  std::string mark_;
};

using Environment = std::map<std::string, std::string>;

class StartedProgram {
 public:
  // `command` is looked for in PATH; `extra` is set besides this process's environment.
  StartedProgram(const Habitat& habitat, const std::string& name, const std::vector<std::string>& command,
                 const Environment& extra = {});
  // Ends it if it still runs.
  ~StartedProgram();
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  struct Ending {
    int exit_code = -1;  // 128 + N when a signal ended it
    bool in_time = false;
  };
  Ending wait(base::Nanoseconds limit);
  pid_t pid() const { return pid_; }
  std::string output() const;
  std::string error() const;
  // Waits for words on standard error; whether they came.
  bool await_error(const std::string& words) const;

 private:
  std::filesystem::path directory_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

std::string program_path();

// A variable that a process was started with; empty where it has none.
std::string variable_of(pid_t pid, const std::string& name);
// The processes of a habitat that are ranks, by rank: as our launcher or mpirun numbered them.
std::map<int, pid_t> ranks_in(const Habitat& habitat);

// A port of loopback that nobody listens at, and whether that is so.
int free_port();
bool is_free(int port);

// Whether the condition comes true within the limit.
template <typename Condition>
bool comes_true(Condition condition, base::Nanoseconds limit);
void short_sleep();

template <typename Condition>
bool comes_true(Condition condition, base::Nanoseconds limit) {
  const base::Deadline deadline(limit);
  while (!condition()) {
    if (deadline.passed()) return false;
    short_sleep();
  }
  return true;
}

}  // namespace lockstep::testing
