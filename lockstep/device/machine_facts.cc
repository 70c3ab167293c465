#include "lockstep/device/machine_facts.h"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "lockstep/base/text.h"
#include "lockstep/device/cgroup_limits.h"
#include "lockstep/device/cpu_topology.h"

namespace lockstep::device {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("unknown");
}

std::string model_in_cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return base::trim(line.substr(line.find(':') + 1));
  return "unknown";
}

std::uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return static_cast<std::uint64_t>(std::max(0L, pages)) *
         static_cast<std::uint64_t>(std::max(0L, page_bytes));
}

}  // namespace

record::Machine machine_facts(int ranks) {
  const CpuTopology topology = topology_of_ranks(ranks);
  const CgroupLimits limits = cgroup_limits();
  record::Machine machine;
  machine.host = host_name();
  machine.cpu = topology.model.empty() ? model_in_cpuinfo() : topology.model;
  machine.cores = static_cast<int>(topology.cores.size());
  machine.cpu_quota = limits.cpu_quota;
  machine.memory_bytes = std::min(physical_memory_bytes(), limits.memory_bytes.value_or(~std::uint64_t{0}));
  machine.libraries = {{"glibc", gnu_get_libc_version()}, {"hwloc", topology_library_version()}};
  return machine;
}

}  // namespace lockstep::device
