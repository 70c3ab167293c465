// Which cores each worker of this host gets.
#pragma once

#include <optional>
#include <vector>

#include "lockstep/device/cpu_topology.h"

namespace lockstep::device {

struct WorkerCpus {
  std::vector<int> cpus;  // the operating system's numbers of all hardware threads of the worker's cores
  int cores = 0;
};

struct CpuPlacement {
  std::vector<WorkerCpus> workers;
  bool oversubscribed = false;  // more workers than cores: they share
  // How many threads a worker can keep busy: the cores of the smallest worker (a synchronous step waits for
  // the slowest, so more threads elsewhere only unbalance it), less where a control group's quota grants
  // less.
  int threads_per_worker = 1;
};

// Divides the cores in their order: worker i gets the i-th of `workers` consecutive shares, none of which
// differs from another by more than one core. With more workers than cores each gets one core, shared with as
// few others as can be. `quota` is a control group's limit in cores. Pure. `workers` must be at least 1, the
// topology not empty.
CpuPlacement place_workers(const CpuTopology& topology, int workers, std::optional<double> quota);

}  // namespace lockstep::device
