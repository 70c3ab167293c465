#include "lockstep/cli/bench/bench_launch.h"

#include <algorithm>
#include <filesystem>

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
  launch.timeout = options.timeout;
  launch.environment[kMachineVariable] = machine_variable();
  if (const std::string terminal = terminal_name(); !terminal.empty())
    launch.environment[kTerminalVariable] = terminal;
  return launch::launch(launch);
}

}  // namespace lockstep::cli
