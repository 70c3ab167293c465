#include "lockstep/cli/train/train_conclusion.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/train/summary.h"
#include "lockstep/lab/conclude.h"

namespace lockstep::cli {
namespace {

record::RunContext context_of(const TrainOutcome& outcome) {
  record::RunContext context;
  context.machine = nlohmann::json(run_machine());
  context.total_seconds = base::to_seconds(outcome.total);
  if (const auto& failure = outcome.result.failure)
    context.failure = record::FailureFigures{failure->rank, failure->kind, failure->message};
  return context;
}

void print(const TrainOptions& options, const lab::RunDirectory& run, const record::RunRecord& record,
           const Console& console) {
  try {
    console.print(options.json ? record::to_json(record).dump(2) + "\n"
                               : summary_of(record, run.path(), console));
  } catch (const ReaderGone&) {
    base::log_debug("the reader of the results is gone");
  }
}

// Why the record cannot be kept; empty when it is.
std::string keep_record(const lab::RunDirectory& run, const lab::Conclusion& conclusion) {
  try {
    lab::keep(run, conclusion);
  } catch (const base::StoreError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

int conclude_training(const TrainOptions& options, const lab::RunDirectory& run, const TrainOutcome& outcome,
                      const Console& console) {
  const lab::Conclusion conclusion = lab::merge_run(run, context_of(outcome));
  const std::string trouble = keep_record(run, conclusion);
  print(options, run, conclusion.record, console);
  if (!trouble.empty()) throw base::StoreError(trouble);
  if (outcome.result.exit_code == 0 && conclusion.record.status != "finished")
    throw base::StoreError(
        fmt::format("every rank ended well, but not every one said that it had finished; the record says {}. "
                    "Next step: look "
                    "at the events and logs in {}.",
                    conclusion.record.status, run.path().string()));
  return outcome.result.exit_code;
}

}  // namespace lockstep::cli
