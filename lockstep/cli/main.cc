// The program `lockstep`.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "lockstep/cli/program.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_output.h"

namespace {

// A closed standard descriptor would be given to the next file we open, and our output would go there. It is
// opened for reading: writing to it fails, as it does where nobody opens it.
void open_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace

int main(int argument_count, char** arguments) {
  open_standard_descriptors();
  lockstep::launch::adopt_rank_output();
  lockstep::launch::raise_limits();
  // A closed pipe is seen as EPIPE where it is written to, so that a run ends in order and not in the middle.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  return lockstep::cli::run_program(std::vector<std::string>(arguments + 1, arguments + argument_count));
}
