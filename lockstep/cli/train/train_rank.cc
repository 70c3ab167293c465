#include "lockstep/cli/train/train_rank.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cli/log_identity.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/train/live_display.h"
#include "lockstep/cli/train/train_conclusion.h"
#include "lockstep/cli/train/train_files.h"
#include "lockstep/cli/train/train_launch.h"
#include "lockstep/cli/train/watched_worker.h"
#include "lockstep/cli/train/worker_program.h"
#include "lockstep/comm/rendezvous/key.h"
#include "lockstep/comm/session.h"
#include "lockstep/device/cgroup_limits.h"
#include "lockstep/device/cpu_environment.h"
#include "lockstep/device/cpu_placement.h"
#include "lockstep/lab/run_events.h"
#include "lockstep/launch/exit_status.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_environment.h"
#include "lockstep/launch/signals.h"

namespace lockstep::cli {
namespace {

// For the other ranks' last events to arrive, once rank 0 has ended. After a failure some may never come.
constexpr base::Nanoseconds kOthersWait = std::chrono::seconds(5);
constexpr base::Nanoseconds kOthersWaitAfterFailure = std::chrono::seconds(1);
// The others, too, notice at the timeout that rank 0 is stopped; they say so before its server goes.
constexpr base::Nanoseconds kOthersFirst = std::chrono::seconds(1);

// The worker reads the environment alone, so what flags said, and where the ranks have met, goes there. Who
// started this rank it finds out as we did.
void tell(launch::Variables& variables, const comm::Identity& identity) {
  if (identity.source == "flags") {
    variables["RANK"] = std::to_string(identity.group.rank);
    variables["WORLD_SIZE"] = std::to_string(identity.group.world);
  }
  if (identity.group.world == 1) return;
  variables["MASTER_ADDR"] = identity.master_addr;
  variables["MASTER_PORT"] = std::to_string(identity.master_port);
  variables[comm::kKeyVariable] = identity.key;
  variables.erase("TORCHELASTIC_USE_AGENT_STORE");  // the port is ours already
}

int ranks_here(const comm::Identity& identity) {
  return std::max(1, identity.group.local_world);
}

// The replicas of dp are workers too.
int workers_here(const TrainPlan& plan, const comm::Identity& identity) {
  return ranks_here(identity) * static_cast<int>(plan.spec.workers) / plan.processes();
}

// The foreign launcher placed us; among the ranks of this host we take our share of what they may use.
launch::Variables library_variables(const TrainPlan& plan, const comm::Identity& identity,
                                    const launch::Variables& inherited) {
  const int ranks = ranks_here(identity);
  const device::CpuPlacement placement =
      device::place_workers(device::topology_of_ranks(ranks), ranks, device::cgroup_limits().cpu_quota);
  device::CpuEnvironmentFacts facts;
  facts.features = device::cpu_features();
  facts.threads_were_asked = plan.spec.threads.has_value();
  facts.threads = static_cast<int>(plan.spec.threads.value_or(placement.threads_per_worker));
  facts.oversubscribed = placement.oversubscribed;
  for (const auto& [name, value] : inherited) facts.user_set.insert(name);
  return device::cpu_environment(facts);
}

launch::Variables environment_of(const TrainOptions& options, const TrainPlan& plan,
                                 const comm::Identity& identity) {
  const launch::Variables inherited = launch::current_variables();
  launch::Variables variables = launch::merged(inherited, library_variables(plan, identity, inherited));
  tell(variables, identity);
  variables[kMachineVariable] = machine_variable(ranks_here(identity));
  variables[comm::kJoinTimeoutVariable] = fmt::format("{}", base::to_seconds(options.join_timeout));
  return variables;
}

// A file without a name that lasts as long as the process: nobody has to remove it.
std::string spec_in_memory(const record::RunSpec& spec) {
  const std::string text = base::json_text(record::to_json(spec));
  const int fd = ::memfd_create("spec.json", 0);
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw base::StoreError("the spec cannot be handed to the worker: " + base::errno_text());
  return fmt::format("/proc/self/fd/{}", fd);
}

[[noreturn]] void become_worker(std::vector<std::string> command, const launch::Variables& environment) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (std::string& argument : command) argv.push_back(argument.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execvpe(argv.front(), argv.data(), envp.data());
  throw base::DeviceError(fmt::format("cannot start '{}': {}", command.front(), base::errno_text()));
}

// Where rank 0 has written nothing, the ranks have never met.
void await_others(const lab::RunDirectory& run, int world, const launch::LaunchResult& result,
                  const launch::HeldSignals& held) {
  if (!std::filesystem::exists(run.rank_file(0))) return;
  const bool failed = result.failure && result.failure->kind != "interrupted";
  const base::Deadline deadline(failed ? kOthersWaitAfterFailure : kOthersWait);
  for (int rank = 0; rank < world; ++rank)
    while (!lab::has_ended(run, rank) && !deadline.passed() && !held.came())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// Of its own errors the worker has told; of a signal it could not.
void say_what_the_worker_did_not(const launch::LaunchResult& result, const Console& console) {
  if (!result.failure || result.failure->kind == "exited" || result.failure->kind == "timed_out") return;
  const bool interrupted = result.failure->kind == "interrupted";
  console.note(fmt::format("{}{}\n", interrupted ? "" : "error: ", result.failure->message));
}

int lead_run(const TrainOptions& options, const TrainPlan& plan, const comm::Identity& identity,
             std::vector<std::string> command, const Console& console) {
  const base::TimePoint start = base::now();
  const record::Machine machine = run_machine(ranks_here(identity));
  std::optional<launch::HeldSignals> held(std::in_place);
  const lab::RunDirectory run =
      lab::RunDirectory::create(lab::find_store(options.store), plan.spec, std::nullopt,
                                lab::launch_of(start, nlohmann::json(machine), workers_here(plan, identity)));
  const base::UniqueFd at_work = run.hold();
  console.note(fmt::format("{}\n{}run {}, ranks from {}\n", describe(plan), data_place_note(plan.spec),
                           run.id(), identity.source));
  command.insert(command.end(), {"train", "--run", run.path().string()});
  LiveDisplay display(options.progress, plan, run);
  const launch::LaunchResult result =
      watch_worker({.command = std::move(command),
                    .environment = environment_of(options, plan, identity),
                    .wind_down = kWindDown,
                    .stopped_limit = base::from_seconds(plan.spec.timeout.count) + kOthersFirst,
                    .by_hand = comm::started_by_hand(identity),
                    .on_tick = [&display] { display.tick(); }});
  display.clear();
  say_what_the_worker_did_not(result, console);
  await_others(run, plan.processes(), result, *held);
  return conclude_training(options, run, {result, base::now() - start, workers_here(plan, identity)}, machine,
                           held, console);
}

// What is known of a run's ranks, and what is to be done.
struct Meeting {
  comm::Identity identity;
  TrainPlan plan;
};

// Leaves well, and tells the others why, where a signal ended it.
void require_uninterrupted(const launch::HeldSignals& held, int rank) {
  const int number = held.take();
  if (number == 0) return;
  throw base::Error(static_cast<base::ExitCode>(static_cast<int>(base::ExitCode::signal_base) + number),
                    fmt::format("rank {} was interrupted by {} before all ranks had met", rank,
                                launch::signal_name(number)));
}

// Who shares a host decides the backend, the threads and the cores, so the ranks find that out before any of
// this is settled; a rank that then cannot go on ends all of them.
Meeting meet(const TrainOptions& options, const record::RunSpec& asked, const Meeting& believed) {
  const launch::HeldSignals held;
  const comm::Registry no_backends{std::filesystem::path()};
  comm::SessionOptions session_options;
  session_options.join_timeout = options.join_timeout;
  session_options.linger = options.join_timeout;
  session_options.meeting_directory = lab::find_store(options.store);
  session_options.still_wanted = [&] { require_uninterrupted(held, believed.identity.group.rank); };
  comm::Session session(believed.identity, no_backends, session_options);
  Meeting met = believed;
  session.run_part([&](comm::Session& joined) {
    met.identity = joined.identity();
    if (met.identity.hosts != met.plan.hosts) met.plan = plan_training(asked, met.identity);
  });
  return met;
}

// A run whose ranks did not all come is kept too, and says why.
int conclude_unmet(const TrainOptions& options, const Meeting& believed, const comm::Verdict& verdict,
                   const Console& console) {
  const bool late = verdict.kind == base::CommError::Kind::timed_out;
  const bool signalled = verdict.exit_code > base::ExitCode::signal_base;
  const launch::LaunchFailure failure{verdict.rank,
                                      late        ? "timed_out"
                                      : signalled ? "interrupted"
                                                  : "exited",
                                      verdict.message};
  std::optional<launch::HeldSignals> held(std::in_place);
  const lab::RunDirectory run = lab::RunDirectory::create(lab::find_store(options.store), believed.plan.spec);
  return conclude_training(options, run,
                           {{static_cast<int>(verdict.exit_code), failure}, base::Nanoseconds(0)},
                           run_machine(), held, console);
}

}  // namespace

void require_rank_can_join(const TrainPlan& plan, const comm::Identity& identity) {
  const int world = identity.group.world;
  if (plan.spec.engine != "torch" || world == 1) return;
  throw base::ConfigError(fmt::format(
      "engine torch cannot be started as ranks by another launcher, and {} says that there are {} ranks: its "
      "ranks meet in the run's directory, which only our own launcher names to all of them. Next step: start "
      "it once, without a launcher, with --workers {}.",
      identity.source, world, world));
}

int train_as_rank(const TrainOptions& options, const record::RunSpec& asked, const TrainPlan& plan,
                  const comm::Identity& identity, const Console& console) {
  log_identity(identity);
  launch::require_stack();
  require_inputs(plan.spec);
  Meeting met{identity, plan};
  std::vector<std::string> command = worker_command(plan.spec.engine);
  try {
    if (identity.group.world > 1) met = meet(options, asked, met);
  } catch (const comm::RunEnded& ended) {
    comm::announce_verdict(identity, ended.verdict);
    return identity.group.rank == 0 ? conclude_unmet(options, met, ended.verdict, console)
                                    : static_cast<int>(ended.verdict.exit_code);
  }
  if (identity.group.rank == 0) return lead_run(options, met.plan, met.identity, std::move(command), console);
  command.insert(command.end(), {"train", "--spec", spec_in_memory(met.plan.spec)});
  become_worker(std::move(command), environment_of(options, met.plan, met.identity));
}

}  // namespace lockstep::cli
