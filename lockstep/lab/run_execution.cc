#include "lockstep/lab/run_execution.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/lab/run_index.h"

namespace lockstep::lab {
namespace {

launch::LaunchOptions launch_options(const RunDirectory& run, const RunRequest& request,
                                     const record::RunSpec& spec) {
  launch::LaunchOptions launch;
  launch.workers = request.processes;
  launch.command = request.command;
  launch.command.insert(launch.command.end(), {"train", "--run", run.path().string()});
  launch.through_mpirun = spec.backend == "mpi";
  launch.threads_per_worker = static_cast<int>(spec.threads.value_or(0));
  launch.environment = request.environment;
  launch.slice = request.slice;
  launch.log_directory = request.log_directory.empty() ? run.logs() : request.log_directory;
  launch.join_timeout = request.join_timeout;
  launch.ranks_join = spec.engine != "torch";  // PyTorch's ranks meet in the run's directory
  launch.timeout = base::from_seconds(spec.timeout.count);
  launch.wind_down = request.wind_down;
  launch.quiet = request.quiet;
  return launch;
}

record::RunContext context_of(const RunOutcome& outcome, const nlohmann::json& machine) {
  record::RunContext context;
  context.machine = machine;
  context.local_world = outcome.local_world;
  context.total_seconds = base::to_seconds(outcome.total);
  if (const auto& failure = outcome.result.failure)
    context.failure = record::FailureFigures{failure->rank, failure->kind, failure->message};
  return context;
}

}  // namespace

launch::LaunchResult execute_run(const RunDirectory& run, const RunRequest& request,
                                 const RunWatcher& watcher) {
  launch::LaunchOptions launch = launch_options(run, request, run.spec());
  launch.on_tick = watcher.on_tick;
  launch.line_lead = watcher.line_lead;
  return launch::launch_run(launch);
}

RunLaunch launch_of(base::TimePoint start, const nlohmann::json& machine, std::optional<int> local_world) {
  const auto commanded = std::chrono::system_clock::now() - (base::now() - start);
  return {std::chrono::duration<double>(commanded.time_since_epoch()).count(), machine, local_world};
}

ConcludedRun conclude_run(const RunDirectory& run, const RunOutcome& outcome, const nlohmann::json& machine) {
  const auto commanded = std::chrono::system_clock::now() - outcome.total;
  record::RunContext context = context_of(outcome, machine);
  context.commanded_at = std::chrono::duration<double>(commanded.time_since_epoch()).count();
  const Conclusion conclusion = merge_run(run, std::move(context));
  ConcludedRun concluded{conclusion.record, "", ""};
  try {
    keep_record(run, conclusion);
  } catch (const base::StoreError& error) {
    concluded.trouble = fmt::format(
        "{} What the ranks wrote is there: `lockstep runs conclude {}` makes the record "
        "from it once there is room.",
        error.what(), run.id());
    return concluded;
  }
  note_in_index(run, conclusion.record);
  try {
    keep_events(run, conclusion);
  } catch (const base::StoreError& error) {
    concluded.no_events = fmt::format(
        "the record is kept, but not all ranks' events in one file: {} Then `lockstep "
        "runs conclude {}` makes that file.",
        error.what(), run.id());
  }
  return concluded;
}

}  // namespace lockstep::lab
