// The program `lockstep`.
#include <csignal>
#include <string>
#include <vector>

#include "lockstep/cli/program.h"
#include "lockstep/launch/rank_output.h"

int main(int argument_count, char** arguments) {
  lockstep::launch::adopt_rank_output();
  // A closed pipe is seen as EPIPE where it is written to, so that a run ends in order and not in the middle.
  std::signal(SIGPIPE, SIG_IGN);
  return lockstep::cli::run_program(std::vector<std::string>(arguments + 1, arguments + argument_count));
}
