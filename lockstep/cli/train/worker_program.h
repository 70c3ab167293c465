// The programs that train: lockstep-worker beside this program, and the script of engine torch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// A program to use as lockstep-worker instead of the one beside this program.
inline constexpr const char* kWorkerVariable = "LOCKSTEP_WORKER";

// lockstep-worker; nothing where it was not built. Throws DeviceError when LOCKSTEP_WORKER names something
// that cannot be run.
std::optional<std::filesystem::path> find_worker();

// What starts a worker of that engine, to be followed by `train --run DIR`. Throws DeviceError with the
// reason where the engine is not here.
std::vector<std::string> worker_command(const std::string& engine);

}  // namespace lockstep::cli
