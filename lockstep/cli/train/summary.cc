#include "lockstep/cli/train/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/limit_reached.h"
#include "lockstep/cli/train/train_files.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/threads.h"

namespace lockstep::cli {
namespace {

using record::RunRecord;

// A field of the stored spec as text; a record of another version may lack it.
std::string field(const RunRecord& record, const char* name) {
  if (!record.spec.contains(name)) return "?";
  const nlohmann::json& value = record.spec.at(name);
  return base::value_text(value);
}

// Only this version's specs can be asked for their input.
std::string input_text(const RunRecord& record) {
  try {
    return ", input " + cli::text_of(record::input_shape(record::spec_from_json(record.spec, "")));
  } catch (const base::Error&) {
    return "";
  }
}

std::string named(const char* name, const std::string& value) {
  return fmt::format("  {:<10}{}\n", name, value);
}

// Whoever reads the times must know that the workers took turns.
std::string shared_cores(const RunRecord& record) {
  if (!record.oversubscribed.value_or(false)) return "";
  const auto cores = record.machine.is_object() ? record.machine.find("cores") : record.machine.end();
  const std::string count = cores == record.machine.end() ? "" : base::json_text(*cores) + ", ";
  const std::string each =
      record.spec.contains("threads") ? fmt::format(" of {} threads", field(record, "threads")) : "";
  return named("cores", fmt::format("{}shared by {}{}: they take turns, so the times are not those "
                                    "of workers with cores of their own",
                                    count, base::counted(record::workers_on_host(record), "worker"), each));
}

// Engine torch's version has its name in it already: "torch 1.13.1".
std::string engine_text(const RunRecord& record) {
  if (record.version.empty()) return record.engine;
  return record.version.starts_with(record.engine + " ") ? record.version
                                                         : record.engine + " " + record.version;
}

std::string what_ran(const RunRecord& record) {
  return named("model", field(record, "model") + input_text(record)) + named("data", field(record, "data")) +
         named("strategy", cli::text_of(Setup{field(record, "strategy"), field(record, "backend"),
                                              field(record, "device"), record.workers})) +
         named("batch",
               fmt::format("{} per worker, {} global", record.batch.per_worker, record.batch.global)) +
         named("update", fmt::format("{}, learning rate {}, {}", field(record, "optimizer"),
                                     field(record, "learning_rate"), field(record, "precision"))) +
         named("engine", engine_text(record)) + shared_cores(record);
}

std::string wall_text(const RunRecord& record) {
  std::vector<std::string> parts;
  const auto add = [&parts](const char* name, const std::optional<double>& seconds) {
    if (seconds) parts.push_back(fmt::format("{} {:.1f} s", name, *seconds));
  };
  add("launch", record.wall_seconds.launch);
  add("load", record.wall_seconds.load);
  add("train", record.wall_seconds.train);
  add("validate", record.wall_seconds.validate);
  add("total", record.wall_seconds.total);
  return parts.empty() ? "" : named("time", fmt::format("{}", fmt::join(parts, ", ")));
}

std::string target_text(const RunRecord& record) {
  if (!record.target) return "";
  const record::TargetFigures& target = *record.target;
  std::string text = fmt::format("{} {:.4g}", target.metric, target.value);
  if (!target.epochs) return named("target", text + ", not reached");
  text += fmt::format(", reached after {:.4g} epoch{}", *target.epochs, *target.epochs == 1 ? "" : "s");
  if (target.seconds) text += fmt::format(" and {:.1f} s", *target.seconds);
  return named("target", text);
}

std::string limit_text(const RunRecord& record) {
  const std::string limit = limit_reached(record);
  return limit.empty() ? "" : named("ended at", limit);
}

// The user's own signal is nobody's failure, and standard error has only its name: how to go on is said here.
std::string interruption_text(const record::FailureFigures& failure, const Console& console) {
  return "\n" + console.styled("Interrupted", Tone::warning) + "\n  " + failure.message + "\n";
}

std::string how_to_go_on(const std::filesystem::path& directory) {
  if (directory.empty() || !has_checkpoint(directory)) return "";
  return fmt::format("  A checkpoint is in {}. Go on: the same command with --resume {}\n",
                     (directory / "checkpoints").string(), directory.string());
}

std::string failure_text(const RunRecord& record, const SummaryOptions& options, const Console& console) {
  if (!record.failure) return "";
  const record::FailureFigures& failure = *record.failure;
  if (failure.kind == "interrupted") return interruption_text(failure, console);
  const std::string who = failure.rank < 0 ? "" : fmt::format("rank {}, ", failure.rank);
  const std::string what = options.failure_was_said ? "its message is on standard error" : failure.message;
  return "\n" + console.styled("Failure", Tone::bad) +
         fmt::format(" ({}{})\n  {}\n", who, failure.kind, what) + how_to_go_on(options.directory);
}

std::string warnings_text(const RunRecord& record, const Console& console) {
  if (record.warnings.empty()) return "";
  std::string text = "\n" + console.styled("Warnings", Tone::warning) + "\n";
  for (const std::string& warning : record.warnings) text += "  " + warning + "\n";
  return text;
}

}  // namespace

Tone tone_of_status(const std::string& status) {
  if (status == "finished") return Tone::good;
  return status == "interrupted" ? Tone::warning : Tone::bad;
}

std::string summary_of(const RunRecord& record, const SummaryOptions& options, const Console& console) {
  return console.styled("Run " + record.id, Tone::heading) + "  " +
         console.styled(record.status, tone_of_status(record.status)) + "\n" + what_ran(record) +
         wall_text(record) + limit_text(record) + target_text(record) + epochs_text(record, console) +
         steps_text(record, console) + communication_text(record, console) + ledger_text(record, console) +
         memory_text(record, console) + warnings_text(record, console) +
         failure_text(record, options, console) +
         (options.directory.empty() ? "" : "\nStored in " + options.directory.string() + "\n");
}

}  // namespace lockstep::cli
