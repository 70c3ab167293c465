#include "lockstep/cli/bench/bench_launch.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "lockstep/base/unique_fd.h"
#include "lockstep/cli/progress.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/launch/launcher.h"

namespace lockstep::cli {

int launch_bench(const BenchOptions& options, int workers, const std::vector<std::string>& arguments) {
  launch::LaunchOptions launch;
  launch.workers = workers;
  launch.command = {std::filesystem::read_symlink("/proc/self/exe").string()};
  launch.command.insert(launch.command.end(), arguments.begin(), arguments.end());
  launch.through_mpirun =
      std::find(options.backends.begin(), options.backends.end(), "mpi") != options.backends.end();
  launch.threads_per_worker = options.threads;
  launch.log_directory = options.log_directory;
  launch.join_timeout = options.join_timeout;
  launch.environment[kMachineVariable] = machine_variable();
  // Without close-on-exec: rank 0 writes the progress to our terminal through it.
  const base::UniqueFd terminal(::isatty(STDERR_FILENO) == 1 ? ::dup(STDERR_FILENO) : -1);
  if (terminal) launch.environment[kProgressFdVariable] = std::to_string(terminal.get());
  return launch::launch(launch);
}

}  // namespace lockstep::cli
