// How a rank's process ended.
#pragma once

#include <optional>
#include <string>

namespace lockstep::launch {

struct ExitStatus {
  enum class Kind {
    exited,     // by itself; `number` is its exit code
    signalled,  // `number` is the signal
    vanished,   // it is gone and nobody told us how: a rank under mpirun that did not leave through exit()
    never_started,  // mpirun ended without having started it
  };
  Kind kind = Kind::exited;
  int number = 0;

  bool ok() const { return kind == Kind::exited && number == 0; }
};

// SIGTERM or SIGINT where that is what ended the process, or what its exit code tells of: a wish to interrupt
// the run.
std::optional<int> interrupting_signal(const ExitStatus& status);

// To follow "rank 1": "exited with code 3", "was killed by signal 9 (SIGKILL)".
std::string describe(const ExitStatus& status);

// "SIGINT", or "signal 65" where it has no name.
std::string signal_name(int signal_number);

}  // namespace lockstep::launch
