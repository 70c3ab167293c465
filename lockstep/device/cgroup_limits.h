// What the control groups of this process grant it (versions 1 and 2): time on the cores, and memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace lockstep::device {

struct CgroupLimits {
  std::optional<double> cpu_quota;            // in cores; nothing: unlimited
  std::optional<std::uint64_t> memory_bytes;  // nothing: unlimited
};

// Where the kernel shows the groups; tests point it at a tree of their own.
struct CgroupPaths {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path root = "/sys/fs/cgroup";
};

// The tightest limit on the way from this process's group up to the root.
CgroupLimits cgroup_limits(const CgroupPaths& paths = {});

}  // namespace lockstep::device
