#include "lockstep/launch/rank_plan.h"

#include "lockstep/device/cgroup_limits.h"
#include "lockstep/device/cpu_environment.h"

namespace lockstep::launch {
namespace {

device::CpuEnvironmentFacts library_facts(const LaunchOptions& options, const device::CpuPlacement& placement,
                                          const Variables& set_by_user) {
  device::CpuEnvironmentFacts facts;
  facts.features = device::cpu_features();
  facts.threads_were_asked = options.threads_per_worker > 0;
  facts.threads = facts.threads_were_asked ? options.threads_per_worker : placement.threads_per_worker;
  facts.oversubscribed = placement.oversubscribed;
  for (const auto& [name, value] : set_by_user) facts.user_set.insert(name);
  return facts;
}

}  // namespace

RankPlan plan_ranks(const LaunchOptions& options, const RunAddress& run) {
  RankPlan plan;
  plan.command = options.command;
  plan.placement =
      device::place_workers(device::usable_topology(), options.workers, device::cgroup_limits().cpu_quota);
  plan.inherited = current_variables();
  const Variables set_by_user = merged(plan.inherited, options.environment);
  plan.added = merged(device::cpu_environment(library_facts(options, plan.placement, set_by_user)),
                      merged(options.environment, run_variables(run)));
  return plan;
}

}  // namespace lockstep::launch
