#include "lockstep/device/cpu_topology.h"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <memory>

#include "lockstep/base/text.h"

namespace lockstep::device {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

// The allowed hardware threads within the mask this process runs under.
Bitmap usable_cpus(hwloc_topology_t topology) {
  Bitmap mask(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, mask.get(), HWLOC_CPUBIND_PROCESS) != 0) hwloc_bitmap_fill(mask.get());
  hwloc_bitmap_and(mask.get(), mask.get(), hwloc_topology_get_allowed_cpuset(topology));
  return mask;
}

// Those too that the process that started this one may use; nothing more where that process is hidden.
Bitmap usable_cpus_with_parent(hwloc_topology_t topology) {
  Bitmap usable = usable_cpus(topology);
  Bitmap mask(hwloc_bitmap_alloc());
  if (hwloc_get_proc_cpubind(topology, ::getppid(), mask.get(), HWLOC_CPUBIND_PROCESS) != 0) return usable;
  hwloc_bitmap_and(mask.get(), mask.get(), hwloc_topology_get_allowed_cpuset(topology));
  hwloc_bitmap_or(usable.get(), usable.get(), mask.get());
  return usable;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) cpus.push_back(cpu);
  return cpus;
}

std::vector<int> common_members(hwloc_const_bitmap_t one, hwloc_const_bitmap_t other) {
  Bitmap both(hwloc_bitmap_alloc());
  hwloc_bitmap_and(both.get(), one, other);
  return members(both.get());
}

int numa_node_of(hwloc_obj_t core) {
  const int node = core->nodeset == nullptr ? -1 : hwloc_bitmap_first(core->nodeset);
  return node < 0 ? 0 : node;
}

// hwloc numbers cores depth first, so that neighbours in its order share caches, packages and NUMA nodes.
std::vector<Core> cores_within(hwloc_topology_t topology, hwloc_const_bitmap_t usable) {
  std::vector<Core> cores;
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    std::vector<int> cpus = common_members(core->cpuset, usable);
    if (!cpus.empty()) cores.push_back({std::move(cpus), numa_node_of(core)});
  }
  return cores;
}

std::string model_of(hwloc_topology_t topology) {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* model = package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  return model == nullptr ? std::string() : base::trim(model);
}

std::vector<Core> one_core_per_cpu(const std::vector<int>& cpus) {
  std::vector<Core> cores;
  for (const int cpu : cpus) cores.push_back({{cpu}, 0});
  return cores;
}

std::vector<int> cpus_of_affinity_mask() {
  cpu_set_t mask;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  return cpus;
}

CpuTopology topology_within(Bitmap (*usable_in)(hwloc_topology_t)) {
  const Topology topology = load_topology();
  if (!topology) return {one_core_per_cpu(cpus_of_affinity_mask()), {}};
  const Bitmap usable = usable_in(topology.get());
  CpuTopology result{cores_within(topology.get(), usable.get()), model_of(topology.get())};
  if (result.cores.empty()) result.cores = one_core_per_cpu(members(usable.get()));
  if (result.cores.empty()) result.cores = one_core_per_cpu(cpus_of_affinity_mask());
  return result;
}

}  // namespace

CpuTopology usable_topology() {
  return topology_within(usable_cpus);
}

CpuTopology topology_of_ranks(int ranks) {
  CpuTopology own = usable_topology();
  if (ranks <= 1) return own;
  CpuTopology all = topology_within(usable_cpus_with_parent);
  const std::size_t most = own.cores.size() * static_cast<std::size_t>(ranks);
  if (all.cores.size() > most) all.cores.resize(most);
  return all;
}

std::string topology_library_version() {
  const unsigned version = hwloc_get_api_version();
  return std::to_string(version >> 16) + "." + std::to_string((version >> 8) & 0xff) + "." +
         std::to_string(version & 0xff);
}

}  // namespace lockstep::device
