// Several workers on one GPU, each with a fixed share of it (NVIDIA's Multi-Process Service): what their
// processes must have in the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace lockstep::device {

struct Slice {
  double share = 1;                           // of the GPU's multiprocessors
  std::optional<std::uint64_t> memory_bytes;  // that a worker may allocate on its GPU; unset: what is free
  int gpus = 1;                               // of the host: a worker may work on any of them
};

// The variables that lead a process, or the service's own, to the service of that directory.
std::map<std::string, std::string> service_environment(const std::filesystem::path& directory);

// Those that make a process of that service a slice.
std::map<std::string, std::string> slice_environment(const Slice& slice);

// Where the service's program is; empty when this machine has none.
std::filesystem::path service_program();

}  // namespace lockstep::device
