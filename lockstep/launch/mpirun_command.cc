#include "lockstep/launch/mpirun_command.h"

#include <unistd.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep::launch {
namespace {

// Our launcher pins and ends the ranks, so mpirun does not bind them and, with recovery on, lets the other
// ranks say where they are before anybody ends them.
const std::vector<std::string> kManners = {"--bind-to", "none", "--oversubscribe", "--allow-run-as-root",
                                           "--enable-recovery"};

// All ranks are on this host: their messages go through shared memory and nobody listens for others. mpirun
// alone needs a network, for helpers that it does not have.
const std::vector<std::pair<std::string, std::string>> kOnThisHost = {
    {"btl", "self,vader"}, {"pml", "ob1"}, {"oob_tcp_if_include", "lo"}};

void append_setting(std::vector<std::string>& command, const std::string& name, const std::string& value) {
  command.insert(command.end(), {"--mca", name, value});
}

}  // namespace

std::string find_mpirun(const std::string& search_path) {
  for (const std::string& directory : base::split(search_path, ':')) {
    const std::string candidate = directory + "/mpirun";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw base::DeviceError(
      "the mpi backend needs mpirun, which is not in PATH. Install it (apt-get install openmpi-bin) or "
      "choose another "
      "backend.");
}

std::vector<std::string> mpirun_command(const MpirunCommandOptions& options) {
  std::vector<std::string> command = {options.mpirun};
  command.insert(command.end(), kManners.begin(), kManners.end());
  const std::string directory = options.directory.string();
  append_setting(command, "orte_tmpdir_base", directory);
  append_setting(command, "btl_vader_backing_directory", directory);
  for (const auto& [name, value] : kOnThisHost)
    if (std::find(options.inherited.begin(), options.inherited.end(), "OMPI_MCA_" + name) ==
        options.inherited.end())
      append_setting(command, name, value);
  for (const std::string& name : options.exported) command.insert(command.end(), {"-x", name});
  command.insert(command.end(), {"-n", std::to_string(options.workers)});
  command.insert(command.end(), options.command.begin(), options.command.end());
  return command;
}

}  // namespace lockstep::launch
