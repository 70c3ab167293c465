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

// NVIDIA's library computes products of 16-bit numbers wrong on an H200 where it may use some numbers of
// multiprocessors. f32 and f64 are right everywhere, and PyTorch is as wrong as we are (docs/gpu.md). What a
// slice of that share of `multiprocessors` is, and what it should be.
struct SliceSize {
  int given = 0;               // multiprocessors
  int fitting = 0;             // the most, up to `given`, on which such products are right
  double fitting_percent = 0;  // that give a process so many
};
SliceSize size_for_16_bits(double share, int multiprocessors);

// Where the service's program is; empty when this machine has none.
std::filesystem::path service_program();

}  // namespace lockstep::device
