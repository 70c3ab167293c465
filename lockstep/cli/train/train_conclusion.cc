#include "lockstep/cli/train/train_conclusion.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/cli/train/summary.h"

namespace lockstep::cli {
namespace {

// Whether anybody took it. `stored`: where the record lies; empty when it could not be written.
bool print(const TrainOptions& options, const std::filesystem::path& stored, const record::RunRecord& record,
           const Console& console) {
  try {
    console.print(options.json ? base::json_text(record::to_json(record), 2) + "\n"
                               : summary_of(record, {stored, true}, console));
    return true;
  } catch (const ReaderGone&) {
    return false;
  }
}

// Where the summary, which says how to go on, is not printed.
void say_interruption(const TrainOptions& options, const record::RunRecord& record, const Console& console) {
  if (options.json && record.failure && record.failure->kind == "interrupted")
    console.note(record.failure->message + "\n");
}

// A run that has failed has said its error, which may well be this one: a store that filled up.
void say_trouble(const std::string& trouble, const lab::RunOutcome& outcome) {
  if (outcome.result.exit_code == 0) throw base::StoreError(trouble);
  base::log_warning("the run has no record: " + trouble);
}

}  // namespace

int conclude_training(const TrainOptions& options, const lab::RunDirectory& run,
                      const lab::RunOutcome& outcome, const record::Machine& machine,
                      std::optional<launch::HeldSignals>& held, const Console& console) {
  const lab::ConcludedRun concluded = lab::conclude_run(run, outcome, nlohmann::json(machine));
  held.reset();
  const bool printed = print(options, concluded.trouble.empty() ? run.path() : std::filesystem::path(),
                             concluded.record, console);
  say_interruption(options, concluded.record, console);
  if (!concluded.trouble.empty()) say_trouble(concluded.trouble, outcome);
  if (!concluded.no_events.empty()) base::log_warning(concluded.no_events);
  if (outcome.result.exit_code == 0 && concluded.record.status != "finished")
    throw base::StoreError(
        fmt::format("every rank ended well, but not every one said that it had finished; the record says {}. "
                    "Next step: look at the events and logs in {}.",
                    concluded.record.status, run.path().string()));
  if (outcome.result.exit_code == 0 && !printed) throw ReaderGone();
  return outcome.result.exit_code;
}

}  // namespace lockstep::cli
