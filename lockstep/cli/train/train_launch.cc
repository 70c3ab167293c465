#include "lockstep/cli/train/train_launch.h"

#include <fmt/format.h>

#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/train/live_display.h"
#include "lockstep/cli/train/train_conclusion.h"
#include "lockstep/cli/train/worker_program.h"
#include "lockstep/launch/launcher.h"

namespace lockstep::cli {
namespace {

launch::LaunchOptions launch_options(const TrainOptions& options, const TrainPlan& plan,
                                     const lab::RunDirectory& run) {
  launch::LaunchOptions launch;
  launch.workers = plan.processes();
  launch.through_mpirun = plan.spec.backend == "mpi";
  launch.threads_per_worker = static_cast<int>(plan.spec.threads.value_or(0));
  launch.log_directory = options.log_directory.empty() ? run.logs() : options.log_directory;
  launch.join_timeout = options.join_timeout;
  launch.wind_down = kWindDown;
  launch.environment[kMachineVariable] = machine_variable();
  launch.environment[kBegunVariable] = begun_now();
  return launch;
}

}  // namespace

std::string begun_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:.6f}", std::chrono::duration<double>(since_epoch).count());
}

int launch_training(const TrainOptions& options, const TrainPlan& plan, const Console& console) {
  const base::TimePoint start = base::now();
  std::vector<std::string> command = worker_command(plan.spec.engine);
  require_data(plan.spec);
  const lab::RunDirectory run = lab::RunDirectory::create(lab::find_store(options.store), plan.spec);
  console.note(fmt::format("{}\nrun {}\n", describe(plan), run.id()));

  for (const std::string& argument : {std::string("train"), std::string("--run"), run.path().string()})
    command.push_back(argument);
  launch::LaunchOptions launch = launch_options(options, plan, run);
  launch.command = std::move(command);
  LiveDisplay display(options.progress, plan, run);
  launch.on_tick = [&display] { display.tick(); };
  launch.line_lead = display.line_lead();
  const launch::LaunchResult result = launch::launch_run(launch);
  display.clear();
  return conclude_training(options, run, {result, base::now() - start}, console);
}

}  // namespace lockstep::cli
