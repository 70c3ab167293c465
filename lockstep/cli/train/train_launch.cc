#include "lockstep/cli/train/train_launch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/train/live_display.h"
#include "lockstep/cli/train/train_conclusion.h"
#include "lockstep/cli/train/train_files.h"
#include "lockstep/cli/train/worker_program.h"
#include "lockstep/launch/log_directory.h"
#include "lockstep/launch/process.h"

namespace lockstep::cli {
namespace {

lab::RunRequest request_of(const TrainOptions& options, const TrainPlan& plan) {
  lab::RunRequest request = run_request(plan);
  request.log_directory = options.log_directory;
  request.join_timeout = options.join_timeout;
  return request;
}

std::optional<device::Slice> slice_of(const TrainPlan& plan) {
  if (!plan.spec.slice_share) return std::nullopt;
  device::Slice slice;
  slice.share = plan.spec.slice_share->count;
  if (plan.spec.device_memory) slice.memory_bytes = plan.spec.device_memory->count;
  slice.gpus = plan.gpus;
  return slice;
}

}  // namespace

lab::RunRequest run_request(const TrainPlan& plan) {
  launch::require_stack();
  lab::RunRequest request;
  request.slice = slice_of(plan);
  request.processes = plan.processes();
  request.command = worker_command(plan.spec.engine);
  request.wind_down = kWindDown;
  request.environment[kMachineVariable] = machine_variable();
  return request;
}

int launch_training(const TrainOptions& options, const TrainPlan& plan, const Console& console) {
  const base::TimePoint start = base::now();
  const lab::RunRequest request = request_of(options, plan);
  require_inputs(plan.spec);
  if (!options.log_directory.empty()) launch::make_log_directory(options.log_directory);
  const record::Machine machine = run_machine();
  std::optional<launch::HeldSignals> held(std::in_place);
  const lab::RunDirectory run =
      lab::RunDirectory::create(lab::find_store(options.store), plan.spec, std::nullopt,
                                lab::launch_of(start, nlohmann::json(machine)));
  const base::UniqueFd at_work = run.hold();
  console.note(fmt::format("{}\n{}run {}\n", describe(plan), data_place_note(plan.spec), run.id()));
  LiveDisplay display(options.progress, plan, run);
  const launch::LaunchResult result =
      lab::execute_run(run, request, {[&display] { display.tick(); }, display.line_lead()});
  display.clear();
  return conclude_training(options, run, {result, base::now() - start}, machine, held, console);
}

}  // namespace lockstep::cli
