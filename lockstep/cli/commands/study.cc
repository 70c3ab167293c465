#include "lockstep/cli/commands/study.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/cli/log_identity.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/study/study_display.h"
#include "lockstep/cli/study/study_files.h"
#include "lockstep/cli/study/study_planner.h"
#include "lockstep/cli/study/study_text.h"
#include "lockstep/comm/rendezvous/identity_source.h"

namespace lockstep::cli {
namespace {

lab::StudyOptions options_of(const StudyRequest& request, const std::filesystem::path& store) {
  lab::StudyOptions options;
  options.store = store;
  options.resume = request.resume;
  options.fresh = request.fresh;
  if (request.budget > base::Nanoseconds(0)) options.budget = request.budget;
  options.machine = nlohmann::json(run_machine());
  return options;
}

int exit_code_of(const lab::StudyOutcome& outcome) {
  if (outcome.end == lab::StudyOutcome::End::interrupted) return outcome.exit_code;
  return has_failures(outcome) ? static_cast<int>(base::ExitCode::run_failed) : 0;
}

}  // namespace

std::vector<Example> StudyCommand::examples() const {
  return {
      {"lockstep study --list", "the built-in studies"},
      {"lockstep study quickstart --quick", "one of them, cut to end within minutes"},
      {"lockstep study batch-scaling --set device=cuda --budget 30m", "on GPUs, for half an hour at most"},
      {"lockstep study mine.yaml --resume", "a file of your own, from where it was stopped"},
  };
}

int StudyCommand::list(const Console& console) const {
  console.print(request_.json ? base::json_text(list_json(), 2) + "\n" : list_text(console));
  return 0;
}

int StudyCommand::run_cells(const Console& console) const {
  const base::PrivateFiles private_files(!request_.shared);
  const std::filesystem::path store = lab::find_store(request_.store);
  const lab::StudyPlan plan = StudyPlanner(store).plan(load_study(request_.name, request_.choice));
  if (request_.dry_run) {
    console.print(request_.json ? base::json_text(plan_json(plan), 2) + "\n" : plan_text(plan, console));
    return 0;
  }
  if (!request_.resume) console.note(plan_text(plan, console));
  StudyDisplay display(request_.progress, plan);
  const lab::StudyWatcher watcher{
      [&](const lab::StudyState& state) {
        if (request_.resume) console.note(resumed_plan_text(plan, state, console));
      },
      [&](const lab::StudyState& state, const lab::NextRun& next, const lab::RunDirectory& run) {
        return display.begin(state, next, run);
      },
      [&](const lab::StudyState& state, const lab::NextRun& next, const record::RunRecord& record) {
        display.end(state, next, record);
      }};
  const lab::StudyOutcome outcome = lab::run_study(plan, options_of(request_, store), watcher);
  display.clear();
  console.print(request_.json ? base::json_text(outcome_json(plan, outcome), 2) + "\n"
                              : outcome_text(plan, outcome, console));
  return exit_code_of(outcome);
}

// srun and mpirun start a program as often as there are tasks; a study starts its workers itself, and is run
// by the first task alone.
bool StudyCommand::is_for_another_task() const {
  const std::vector<comm::SourceReading> readings = comm::read_sources({});
  if (readings.empty() || readings.front().rank == 0) return false;
  base::log_info(fmt::format("this is rank {}, as {} says: rank 0 alone runs the study",
                             readings.front().rank, readings.front().source));
  return true;
}

int StudyCommand::run(const Invocation& invocation) {
  if (is_for_another_task()) return 0;
  use_interface(request_.interface);
  if (request_.list) return list(invocation.console);
  if (request_.name.empty())
    throw base::UsageError("which study? lockstep study FILE or NAME; `lockstep study --list` shows names.");
  if (request_.resume && request_.fresh)
    throw base::UsageError("--resume goes on with earlier runs and --fresh removes them: give one of them.");
  return run_cells(invocation.console);
}

}  // namespace lockstep::cli
