#include "lockstep/device/slices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lockstep/base/environment.h"
#include "lockstep/base/text.h"

namespace lockstep::device {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "nvidia-cuda-mps-control";

// The service counts whole mebibytes, and reads 0 as no limit.
std::string memory_limits(std::uint64_t bytes, int gpus) {
  const std::uint64_t mebibytes = std::max<std::uint64_t>(1, bytes >> 20);
  std::vector<std::string> limits;
  for (int gpu = 0; gpu < std::max(1, gpus); ++gpu) limits.push_back(fmt::format("{}={}M", gpu, mebibytes));
  return base::join(limits, ",");
}

}  // namespace

std::map<std::string, std::string> service_environment(const fs::path& directory) {
  return {{"CUDA_MPS_PIPE_DIRECTORY", (directory / "pipe").string()},
          {"CUDA_MPS_LOG_DIRECTORY", (directory / "log").string()}};
}

std::map<std::string, std::string> slice_environment(const Slice& slice) {
  std::map<std::string, std::string> variables{
      {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", fmt::format("{:g}", slice.share * 100)}};
  if (slice.memory_bytes)
    variables["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = memory_limits(*slice.memory_bytes, slice.gpus);
  return variables;
}

// The service gives out pairs of multiprocessors, rounded down, and at least four of them. On an H200
// products were right on at most 16, on 30 to 34, 62 to 66, and from 116 on.
SliceSize size_for_16_bits(double share, int multiprocessors) {
  constexpr int kFewest = 8;
  constexpr std::pair<int, int> kRight[] = {{0, 16}, {30, 34}, {62, 66}, {116, 1 << 20}};
  SliceSize size;
  size.given = std::max(kFewest, static_cast<int>(share * multiprocessors / 2 + 1e-9) * 2);
  for (const auto& [fewest, most] : kRight)
    if (size.given >= fewest) size.fitting = std::min(size.given, most);
  // A little more than that many take, so that no rounding of the share makes it one pair fewer.
  size.fitting_percent = (size.fitting + 0.5) * 100 / multiprocessors;
  return size;
}

// Containers get the driver's programs in a directory of their own.
fs::path service_program() {
  std::vector<std::string> places = base::split(base::environment("PATH").value_or(""), ':');
  places.insert(places.end(), {"/usr/bin", "/usr/local/nvidia/bin"});
  for (const std::string& place : places) {
    const fs::path program = fs::path(place) / kProgram;
    if (!place.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

}  // namespace lockstep::device
