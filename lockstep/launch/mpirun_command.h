// How ranks are started through Open MPI's mpirun, which the mpi backend needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::launch {

struct MpirunCommandOptions {
  std::string mpirun;
  int workers = 1;
  std::filesystem::path directory;  // where Open MPI keeps its files of this run
  std::vector<std::string>
      exported;  // names of variables the ranks need; values never stand on a command line
  std::vector<std::string>
      inherited;  // names of variables that mpirun has: settings of the user's among them
  std::vector<std::string> command;
};

// The first mpirun in `search_path` (as PATH is written). Throws DeviceError with the package to install.
std::string find_mpirun(const std::string& search_path);

std::vector<std::string> mpirun_command(const MpirunCommandOptions& options);

}  // namespace lockstep::launch
