// The programs that train: lockstep-worker beside this program, and the script of engine torch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// A program to use as lockstep-worker instead of the one beside this program.
inline constexpr const char* kWorkerVariable = "LOCKSTEP_WORKER";
// The Python of engine torch, instead of the first one that has torch.
inline constexpr const char* kPythonVariable = "LOCKSTEP_PYTHON";

// Throws DeviceError that names every Python that was asked.
std::string python_with_torch();

// The command by which a Python runs a line of code and imports nothing from the current directory, where a
// file torch.py may be anybody's. Every Python has this way, -P only those from 3.11 on; -I would leave out
// the user's own packages.
std::vector<std::string> python_command(const std::string& python, const std::string& code);

// lockstep-worker; nothing where it was not built. Throws DeviceError when LOCKSTEP_WORKER names something
// that cannot be run.
std::optional<std::filesystem::path> find_worker();

// What starts a worker of that engine, to be followed by `train --run DIR`. Throws DeviceError with the
// reason where the engine is not here.
std::vector<std::string> worker_command(const std::string& engine);

}  // namespace lockstep::cli
