#include "lockstep/launch/launcher.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/run_client.h"
#include "lockstep/comm/rendezvous/run_server.h"
#include "lockstep/launch/local_ranks.h"
#include "lockstep/launch/log_directory.h"
#include "lockstep/launch/mpirun_ranks.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/slice_service.h"
#include "lockstep/launch/supervisor.h"

namespace lockstep::launch {
namespace {

comm::RunServerOptions server_options(const LaunchOptions& options) {
  comm::RunServerOptions server;
  server.world = options.workers;
  server.key = comm::make_key();
  server.join_timeout = options.join_timeout;
  server.ranks_join = options.ranks_join;
  server.silence_timeout = options.timeout;
  server.watched = true;
  return server;
}

// A directory the user named must be good for it; the default one makes room for itself.
std::filesystem::path log_directory_for(const LaunchOptions& options) {
  constexpr std::size_t kKeptRuns = 20;
  if (options.log_directory.empty()) {
    std::filesystem::path directory = default_log_directory();
    prune_log_directories(directory.parent_path(), kKeptRuns);
    return directory;
  }
  make_log_directory(options.log_directory);
  return options.log_directory;
}

OutputPumpOptions pump_options(const LaunchOptions& options) {
  OutputPumpOptions pump;
  pump.workers = options.workers;
  pump.line_lead = options.line_lead;
  pump.quiet = options.quiet;
  pump.log_directory = log_directory_for(options);
  pump.private_logs = options.log_directory.empty();  // they lie in the user's store
  return pump;
}

// They wait for each other as long as the server waits for them.
Variables joining_variables(const LaunchOptions& options) {
  return {{comm::kJoinTimeoutVariable, fmt::format("{}", base::to_seconds(options.join_timeout))}};
}

Variables slice_variables(const SliceService& service, const device::Slice& slice) {
  return merged(service.variables(), device::slice_environment(slice));
}

}  // namespace

void LaunchOptions::validate() const {
  if (workers < 1 || workers > kMostWorkers)
    throw base::UsageError(
        fmt::format("{} workers cannot be started: ask for 1 to {}", workers, kMostWorkers));
  if (threads_per_worker < 0)
    throw base::UsageError(fmt::format(
        "{} threads per worker: ask for 1 or more, or 0 for one per core of the worker", threads_per_worker));
  if (command.empty()) throw base::UsageError("there is no command for the ranks to run");
}

// The order matters: signals are held back before a rank can be left behind by one, ranks are forked before
// the server has a thread, and what is made first outlives what refers to it.
LaunchResult launch_run(const LaunchOptions& options) {
  options.validate();
  require_stack();
  const SignalWatch signals;
  const WakeUp wake;
  OutputPump pump(pump_options(options));
  const comm::RunServerOptions serving = server_options(options);
  comm::RunServer server(serving);
  const std::unique_ptr<SliceService> slices = options.slice ? std::make_unique<SliceService>() : nullptr;
  RankPlan plan = plan_ranks(options, {server.address(), server.port(), serving.key});
  plan.added = merged(std::move(plan.added), joining_variables(options));
  if (slices) plan.added = merged(std::move(plan.added), slice_variables(*slices, *options.slice));
  const std::unique_ptr<RankGroup> ranks =
      options.through_mpirun ? start_mpirun_ranks(plan, pump) : start_local_ranks(plan, pump);
  server.start([&wake](const comm::Verdict&) { wake.notify(); });
  return Supervisor(options, {server, *ranks, pump, signals, wake}).run();
}

int launch(const LaunchOptions& options) {
  return launch_run(options).exit_code;
}

}  // namespace lockstep::launch
