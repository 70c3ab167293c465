#include "lockstep/launch/exit_status.h"

#include <signal.h>
#include <string.h>

#include "lockstep/base/exit_code.h"

namespace lockstep::launch {

std::string signal_name(int signal_number) {
  const char* name = sigabbrev_np(signal_number);
  return name == nullptr ? "signal " + std::to_string(signal_number) : std::string("SIG") + name;
}

std::optional<int> interrupting_signal(const ExitStatus& status) {
  for (const int number : {SIGTERM, SIGINT}) {
    const bool told = status.kind == ExitStatus::Kind::exited &&
                      status.number == static_cast<int>(base::ExitCode::signal_base) + number;
    if (told || (status.kind == ExitStatus::Kind::signalled && status.number == number)) return number;
  }
  return std::nullopt;
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
