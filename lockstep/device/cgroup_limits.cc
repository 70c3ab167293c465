#include "lockstep/device/cgroup_limits.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lockstep/base/text.h"

namespace lockstep::device {
namespace {

namespace fs = std::filesystem;

// Kernels of version 1 say "unlimited" with a number near 2^63.
constexpr std::uint64_t kUnlimitedBytes = std::uint64_t{1} << 60;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<double> number_in(const std::string& text) {
  std::istringstream stream(text);
  double value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

template <typename Value>
void tighten(std::optional<Value>& limit, std::optional<Value> other) {
  if (other) limit = limit ? std::min(*limit, *other) : *other;
}

std::optional<double> quota_of(std::optional<double> quota, std::optional<double> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<std::uint64_t> bytes_of(std::optional<double> value) {
  if (!value || *value <= 0 || *value >= static_cast<double>(kUnlimitedBytes)) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

// "max 100000" or "150000 100000".
std::optional<double> quota_of_version_2(const fs::path& group) {
  std::istringstream line(first_line(group / "cpu.max"));
  std::string quota, period;
  line >> quota >> period;
  return quota_of(number_in(quota), number_in(period));
}

std::optional<double> quota_of_version_1(const fs::path& group) {
  return quota_of(number_in(first_line(group / "cpu.cfs_quota_us")),
                  number_in(first_line(group / "cpu.cfs_period_us")));
}

// The group and everything above it. Inside a container the path may be the host's; then only the root is
// there.
std::vector<fs::path> groups_upwards(const fs::path& root, const std::string& path) {
  std::vector<fs::path> groups = {root};
  fs::path group = root;
  for (const fs::path& part : fs::path(path).relative_path()) groups.push_back(group /= part);
  return groups;
}

void read_version_2(const fs::path& root, const std::string& path, CgroupLimits& limits) {
  for (const fs::path& group : groups_upwards(root, path)) {
    tighten(limits.cpu_quota, quota_of_version_2(group));
    tighten(limits.memory_bytes, bytes_of(number_in(first_line(group / "memory.max"))));
  }
}

void read_version_1(const fs::path& root, const std::string& controllers, const std::string& path,
                    CgroupLimits& limits) {
  for (const std::string& controller : base::split(controllers, ',')) {
    for (const fs::path& group : groups_upwards(root / controller, path)) {
      if (controller == "cpu") tighten(limits.cpu_quota, quota_of_version_1(group));
      if (controller == "memory")
        tighten(limits.memory_bytes, bytes_of(number_in(first_line(group / "memory.limit_in_bytes"))));
    }
  }
}

}  // namespace

// Each line of the membership file is "hierarchy:controllers:path"; version 2 has hierarchy 0 and no
// controllers.
CgroupLimits cgroup_limits(const CgroupPaths& paths) {
  CgroupLimits limits;
  std::ifstream membership(paths.membership);
  for (std::string line; std::getline(membership, line);) {
    const std::vector<std::string> fields = base::split(line, ':');
    if (fields.size() < 3) continue;
    if (fields[1].empty())
      read_version_2(paths.root, fields[2], limits);
    else
      read_version_1(paths.root, fields[1], fields[2], limits);
  }
  return limits;
}

}  // namespace lockstep::device
