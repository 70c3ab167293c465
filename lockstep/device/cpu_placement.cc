#include "lockstep/device/cpu_placement.h"

#include <algorithm>
#include <cmath>

namespace lockstep::device {
namespace {

// The first of `items` that belongs to `share` when they are dealt out evenly in order.
int first_of_share(int share, int shares, int items) {
  return static_cast<int>(static_cast<long>(share) * items / shares);
}

WorkerCpus cores_between(const CpuTopology& topology, int first, int last) {
  WorkerCpus worker;
  worker.cores = last - first;
  for (int core = first; core < last; ++core)
    worker.cpus.insert(worker.cpus.end(), topology.cores[core].cpus.begin(), topology.cores[core].cpus.end());
  std::sort(worker.cpus.begin(), worker.cpus.end());
  return worker;
}

int busy_threads(const CpuPlacement& placement, int workers, std::optional<double> quota) {
  int threads = placement.workers.front().cores;
  for (const WorkerCpus& worker : placement.workers) threads = std::min(threads, worker.cores);
  if (quota) threads = std::min(threads, static_cast<int>(std::floor(*quota / workers)));
  return std::max(1, threads);
}

}  // namespace

CpuPlacement place_workers(const CpuTopology& topology, int workers, std::optional<double> quota) {
  const int cores = static_cast<int>(topology.cores.size());
  CpuPlacement placement;
  placement.oversubscribed = workers > cores;
  for (int worker = 0; worker < workers; ++worker) {
    const int first = first_of_share(worker, workers, cores);
    const int last = placement.oversubscribed ? first + 1 : first_of_share(worker + 1, workers, cores);
    placement.workers.push_back(cores_between(topology, first, last));
  }
  placement.threads_per_worker = busy_threads(placement, workers, quota);
  return placement;
}

}  // namespace lockstep::device
