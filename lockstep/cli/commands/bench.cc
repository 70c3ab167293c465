#include "lockstep/cli/commands/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/cli/bench/bench_conclusion.h"
#include "lockstep/cli/bench/bench_launch.h"
#include "lockstep/cli/bench/bench_memory.h"
#include "lockstep/cli/bench/bench_plan.h"
#include "lockstep/cli/bench/bench_rank.h"
#include "lockstep/cli/bench/bench_replicas.h"
#include "lockstep/device/machine_facts.h"

namespace lockstep::cli {
namespace {

constexpr int kDefaultWorkers = 2;

void require_available(const comm::Registry& registry, const std::vector<std::string>& backends) {
  for (const std::string& name : backends) {
    const comm::Availability availability = registry.find(name).availability();
    if (!availability.available)
      throw base::DeviceError(fmt::format("backend {} cannot be used here: {}. {}", name, availability.detail,
                                          availability.next_step));
  }
}

// `local` lives inside one process, every other backend between processes: one run cannot be both.
bool inside_one_process(const std::vector<std::string>& backends) {
  const auto local = std::count(backends.begin(), backends.end(), "local");
  if (local > 0 && backends.size() > 1)
    throw base::ConfigError(
        "backend local moves between replicas inside one process and cannot take turns with backends of "
        "several "
        "workers. Bench it on its own: --backend local.");
  return local > 0;
}

void require_same_world(const comm::Identity& identity, std::optional<int> workers) {
  if (workers && *workers != identity.group.world)
    throw base::ConfigError(
        fmt::format("--workers {} disagrees with the {} ranks that {} says there are. Leave --workers "
                    "out, or start as many ranks.",
                    *workers, identity.group.world, identity.source));
}

}  // namespace

std::vector<Example> BenchCommand::examples() const {
  return {
      {"lockstep bench allreduce --backend shm,gloo,mpi --workers 2 -b 4K -e 256M -f 4",
       "three backends in one run, taking turns"},
      {"lockstep bench all --dtype all --op sum,max -b 64K -e 1M --workers 3",
       "every collective and type, checked"},
      {"lockstep bench allreduce -b 64M -e 64M --min-busbw 4G --json > bench.json",
       "for a script: exit 5 when slower"},
      {"mpirun -n 4 lockstep bench broadcast --backend gloo,mpi", "as ranks that another launcher started"},
  };
}

int BenchCommand::run(const Invocation& invocation) {
  options_.complete();
  require_place_for(options_.json_file);
  const comm::Registry registry(base::plugin_directory());
  require_available(registry, options_.backends);
  const bool replicas = inside_one_process(options_.backends);
  const std::optional<comm::Identity> identity = comm::find_identity(options_.identity);
  if (identity && !replicas) {
    require_same_world(*identity, options_.workers);
    check_world(options_, identity->group.world);
    require_memory(options_, identity->group.local_world, device::machine_facts().memory_bytes);
    return run_bench_rank(options_, *identity, registry, invocation.console);
  }
  const int workers = options_.workers.value_or(kDefaultWorkers);
  check_world(options_, workers);
  require_memory(options_, workers, device::machine_facts().memory_bytes);
  if (replicas) return run_bench_replicas(options_, workers, registry, invocation.console);

  return launch_bench(options_, workers, invocation.arguments);
}

}  // namespace lockstep::cli
