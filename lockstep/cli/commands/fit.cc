#include "lockstep/cli/commands/fit.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cli/fit/answer.h"
#include "lockstep/cli/fit/fit_report.h"
#include "lockstep/cli/fit/fit_trial.h"

namespace lockstep::cli {
namespace {

// Where the runs of the trials go; they are of no further interest.
class ScratchStore {
 public:
  ScratchStore() {
    std::error_code error;
    const std::filesystem::path where = std::filesystem::temp_directory_path(error);
    std::string name = (where / "lockstep-fit-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      throw base::StoreError(
          fmt::format("no directory for the trials can be made in {}. Next step: let TMPDIR name a "
                      "directory that can be written.",
                      error ? base::environment("TMPDIR").value_or("/tmp") : where.string()));
    path_ = name;
  }
  ~ScratchStore() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

FitRow search(const FitOptions& options, const Answer& answer, const ScratchStore& store,
              const launch::SignalWatch& signals, const Console& console) {
  const SearchLimits limits{answer.parts, std::max<std::int64_t>(answer.parts, options.largest_batch),
                            options.device_memory};
  FitRow row{answer, {}, {}};
  try {
    row.found = largest_batch(limits, [&](std::int64_t batch) {
      const BatchTrial trial = try_batch(options, answer, batch, store.path(), signals);
      console.note(
          fmt::format("{}: a batch of {} {}\n", answer.name, batch, trial.fits ? "fits" : "does not fit"));
      return trial;
    });
  } catch (const base::Error& error) {
    // What a model does not have (blocks to recompute, say) is no reason not to try the rest.
    if (error.exit_code() != base::ExitCode::bad_configuration) throw;
    row.refused = error.what();
  }
  return row;
}

// A model or data set that no answer can train is a mistake, not a finding.
void require_one_that_runs(const std::vector<FitRow>& rows) {
  for (const FitRow& row : rows) {
    if (row.refused.empty()) return;
  }
  throw base::ConfigError(rows.front().refused);
}

}  // namespace

std::vector<Example> FitCommand::examples() const {
  return {
      {"lockstep fit --model deepwide --data digits --device-memory 64MiB",
       "one worker and two, with and without zero, recompute and accumulation"},
      {"lockstep fit --model resnet18-cifar --data cifar10 --device-memory 512MiB --workers 4 --optimizer "
       "adam",
       "on four workers, with Adam's state"},
      {"lockstep fit --model vit --data digits --device-memory 8MiB --answers single,ddp,zero3 --json",
       "some answers only, as JSON"},
  };
}

int FitCommand::run(const Invocation& invocation) {
  options_.validate();
  const launch::SignalWatch signals;  // before the store, which is taken away when one comes
  const ScratchStore store;
  std::vector<FitRow> rows;
  for (const Answer& answer : chosen_answers(options_.answers, options_.workers))
    rows.push_back(search(options_, answer, store, signals, invocation.console));
  require_one_that_runs(rows);
  invocation.console.print(options_.json ? base::json_text(fit_json(options_, rows), 2) + "\n"
                                         : fit_text(options_, rows, invocation.console));
  return 0;
}

}  // namespace lockstep::cli
