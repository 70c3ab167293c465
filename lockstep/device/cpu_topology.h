// The cores this process was given: its affinity mask and control group, not the machine's whole inventory.
#pragma once

#include <string>
#include <vector>

namespace lockstep::device {

// One physical core, by the operating system's numbers of its hardware threads.
struct Core {
  std::vector<int> cpus;
  int numa_node = 0;
};

// In an order in which neighbours share as much cache as possible: by NUMA node, then package, then cache.
struct CpuTopology {
  std::vector<Core> cores;
  std::string model;
};

// Asks hwloc. Where hwloc knows nothing (some containers hide it), every usable hardware thread counts as a
// core.
CpuTopology usable_topology();

// As many cores as `ranks` ranks that one launcher started on this host have together, this process being one
// of them. The launcher may have bound each to cores of its own, so what counts is what the process that
// started us may use, though not more than every rank having as many cores as this one.
CpuTopology topology_of_ranks(int ranks);

// hwloc's version, for the machine's fingerprint.
std::string topology_library_version();

}  // namespace lockstep::device
