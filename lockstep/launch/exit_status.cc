#include "lockstep/launch/exit_status.h"

#include <string.h>

namespace lockstep::launch {

std::string signal_name(int signal_number) {
  const char* name = sigabbrev_np(signal_number);
  return name == nullptr ? "signal " + std::to_string(signal_number) : std::string("SIG") + name;
}

std::string describe(const ExitStatus& status) {
  switch (status.kind) {
    case ExitStatus::Kind::exited:
      return "exited with code " + std::to_string(status.number);
    case ExitStatus::Kind::signalled:
      return "was killed by signal " + std::to_string(status.number) + " (" + signal_name(status.number) +
             ")";
    case ExitStatus::Kind::vanished:
      return "was killed (mpirun does not tell how)";
    case ExitStatus::Kind::never_started:
      return "was never started by mpirun";
  }
  return "ended";
}

}  // namespace lockstep::launch
