#include "lockstep/cli/commands/train.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/durable.h"
#include "lockstep/base/json.h"
#include "lockstep/cli/log_identity.h"
#include "lockstep/cli/train/spec_text.h"
#include "lockstep/cli/train/train_files.h"
#include "lockstep/cli/train/train_launch.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/cli/train/train_rank.h"

namespace lockstep::cli {
namespace {

nlohmann::ordered_json plan_json(const TrainPlan& plan) {
  return {{"spec", record::to_json(plan.spec)},
          {"spec_hash", record::spec_hash(plan.spec)},
          {"batch", {{"per_worker", plan.batch.per_worker}, {"global", plan.batch.global}}},
          {"input", {plan.input.channels, plan.input.height, plan.input.width}}};
}

// The text is a spec file again.
std::string plan_text(const TrainPlan& plan) {
  return fmt::format("# {}\n# spec {}\n\n{}", describe(plan), record::spec_hash(plan.spec),
                     yaml_of(plan.spec));
}

}  // namespace

std::vector<Example> TrainCommand::examples() const {
  return {
      {"lockstep train --model lenet5 --data fashion-mnist --workers 2 --epochs 3",
       "two workers, ddp over shared memory"},
      {"lockstep train run.yaml --global-batch 128 --set model_options.width=8",
       "a spec file; flags and --set override it"},
      {"lockstep train --model resnet18-cifar --data cifar10 --workers 4 --steps 200 --json > run.json",
       "200 steps, the record as JSON"},
      {"mpirun -n 4 lockstep train run.yaml --backend mpi", "as ranks that another launcher started"},
  };
}

int TrainCommand::run(const Invocation& invocation) {
  use_interface(options_.interface);
  const std::optional<comm::Identity> identity = comm::find_identity(options_.identity);
  const record::RunSpec asked = requested_spec(options_);
  const TrainPlan plan = plan_training(asked, identity);
  if (identity) require_rank_can_join(plan, *identity);
  if (options_.dry_run) {
    require_inputs(plan.spec);
    if (!identity || identity->group.rank == 0)
      invocation.console.print(options_.json ? base::json_text(plan_json(plan), 2) + "\n" : plan_text(plan));
    return 0;
  }
  const base::PrivateFiles private_files(!options_.shared);
  require_outputs(plan.spec, options_.spec_file);
  if (identity) return train_as_rank(options_, asked, plan, *identity, invocation.console);
  return launch_training(options_, plan, invocation.console);
}

}  // namespace lockstep::cli
