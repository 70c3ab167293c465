// `lockstep-worker train`: joins the run, and trains this rank's part of it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <fmt/format.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/comm/registry.h"
#include "lockstep/comm/session.h"
#include "lockstep/launch/exit_status.h"
#include "lockstep/launch/rank_output.h"
#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/train/failure.h"
#include "lockstep/train/gpu.h"
#include "lockstep/train/replicas.h"
#include "lockstep/train/same_run.h"
#include "lockstep/train/training_run.h"
#include "lockstep/train/worker/arguments.h"
#include "lockstep/train/worker/commands.h"
#include "lockstep/train/worker/stored_spec.h"

namespace lockstep::train {
namespace {

int code_of(const Interrupter& why) {
  return static_cast<int>(base::ExitCode::signal_base) + why.signal_number;
}

// A rank that nobody knows yet.
void leave_unheard(const comm::Identity& identity, const Interrupter& why) {
  if (!identity.launcher_serves)
    base::log_info(fmt::format("error: rank {} was interrupted by {} before all ranks had met",
                               identity.group.rank, launch::signal_name(why.signal_number)));
  launch::leave_rank(code_of(why));
}

// Between two steps it would be another matter.
void leave_run(comm::Session& session, EventLog* events, const Interrupter& why) {
  const base::Error error(
      static_cast<base::ExitCode>(code_of(why)),
      fmt::format("rank {} was interrupted by {}; no checkpoint of this moment was written",
                  session.group().rank, launch::signal_name(why.signal_number)));
  record::FailedEvent interrupted{"interrupted", error.what()};
  interrupted.signalled_rank = why.rank;
  if (events != nullptr) write_failure(*events, interrupted);
  session.end_run(error, [](int code) { launch::leave_rank(code); });
}

// Rank 0 knows where the run is kept and when it began; the others hear it from it, and compare what they
// were asked to do.
RunPlace meet(comm::Session& session, const record::RunSpec& spec,
              const std::optional<std::string>& directory, Interruptions& interruptions) {
  const base::Deadline deadline(base::from_seconds(spec.timeout.count));
  const nlohmann::json mine = base::parse_json(record::canonical_json(spec));
  if (session.group().rank == 0) {
    const nlohmann::json word = {{"directory", std::filesystem::absolute(directory.value_or(".")).string()},
                                 {"began", RunClock::system_seconds()},
                                 {"spec", mine}};
    session.store().set("train/run", base::json_text(word));
  }
  const nlohmann::json word = base::parse_json(session.store().get("train/run", deadline));
  if (word.at("spec") != mine)
    throw base::ConfigError(
        fmt::format("rank {} was started with another spec than rank 0: {}. Give every rank the same flags.",
                    session.group().rank, differences(mine, word.at("spec"), "on rank 0")));
  const std::filesystem::path place = directory.value_or(word.at("directory").get<std::string>());
  if (!std::filesystem::exists(place))
    throw base::StoreError(fmt::format(
        "the run's directory {} is not on the host of rank {}: the store is not shared between the "
        "hosts. Next step: name a store that all hosts share with --store or LOCKSTEP_STORE.",
        place.string(), session.group().rank));
  return {spec, place, RunClock(word.at("began").get<double>()), disturbances_of(session.group().rank),
          interruptions};
}

comm::Identity identity_or_alone() {
  if (const auto identity = comm::find_identity({})) return *identity;
  throw base::UsageError(
      "lockstep-worker train is one rank: RANK and WORLD_SIZE must say which. Use `lockstep train`.");
}

// The worker's account is of the device that it computes on, and the cap is that device's.
std::shared_ptr<measure::MemoryAccount> account_of_the_host(
    const record::RunSpec& spec, const std::shared_ptr<measure::MemoryAccount>& worker) {
  return spec.device == "cuda" ? std::make_shared<measure::MemoryAccount>() : worker;
}

Ending run_rank(comm::Session& session, const record::RunSpec& spec,
                const std::optional<std::string>& directory, Interruptions& interruptions) {
  const Interruptions::Instead joined(interruptions,
                                      [&](const Interrupter& why) { leave_run(session, nullptr, why); });
  const RunPlace place = meet(session, spec, directory, interruptions);
  EventLog events(place.directory / fmt::format("rank{}.jsonl", session.group().rank), session.group().rank,
                  place.clock);
  const Interruptions::Instead met(interruptions,
                                   [&](const Interrupter& why) { leave_run(session, &events, why); });
  const auto memory = std::make_shared<measure::MemoryAccount>(
      spec.device_memory ? std::optional(spec.device_memory->count) : std::nullopt);
  measure::install_counting_allocator(account_of_the_host(spec, memory));
  return report_failures(events, spec, [&] { return TrainingRun(place, session, events, memory).run(); });
}

}  // namespace

int train_command(const Words& words) {
  const Arguments arguments(words, {"--run", "--spec"});
  const std::optional<std::string> directory = arguments.find("--run");
  const std::filesystem::path spec_path = directory ? std::filesystem::path(*directory) / "spec.json"
                                                    : std::filesystem::path(arguments.need("--spec"));
  const record::RunSpec spec = read_stored_spec(spec_path);
  fit_slice(spec);
  const comm::Identity identity = identity_or_alone();
  Interruptions interruptions(identity, [&](const Interrupter& why) { leave_unheard(identity, why); });
  if (spec.strategy == "dp") {
    at::set_num_threads(replica_threads(spec));
  } else if (spec.threads) {
    at::set_num_threads(static_cast<int>(*spec.threads));
  }
  const comm::Registry registry(base::plugin_directory());
  comm::SessionOptions options;
  options.timeout = base::from_seconds(spec.timeout.count);
  if (const auto limit = base::environment(comm::kJoinTimeoutVariable))
    options.join_timeout = base::from_seconds(std::stod(*limit));
  Ending ending;
  const int code = comm::run_session(identity, registry, options, [&](comm::Session& session) {
    ending = run_rank(session, spec, directory, interruptions);
  });
  return code == 0 && ending.interrupter ? code_of(*ending.interrupter) : code;
}

}  // namespace lockstep::train
