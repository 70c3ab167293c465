#include "lockstep/cli/commands/runs.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lockstep/base/counted.h"
#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/runs/named_records.h"
#include "lockstep/cli/runs/runs_text.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/train/spec_text.h"
#include "lockstep/cli/train/summary.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/study_store.h"
#include "lockstep/measure/whole_file.h"

namespace lockstep::cli {
namespace {

using record::RunRecord;

const std::vector<std::string>& actions() {
  static const std::vector<std::string> kActions = {"list",     "show", "export", "import",
                                                    "conclude", "rm",   "reindex"};
  return kActions;
}

void require_names(const std::vector<std::string>& names, const std::string& action) {
  if (names.empty())
    throw base::UsageError(
        fmt::format("which run? lockstep runs {} ID; `lockstep runs list` shows ids.", action));
}

void refuse_names(const std::vector<std::string>& names, const std::string& action) {
  if (!names.empty())
    throw base::UsageError(
        fmt::format("`lockstep runs {}` takes no id; `lockstep runs show ID` does.", action));
}

// The runs of one study. A name that no run bears is more likely mistyped than asked for.
std::vector<lab::IndexedRun> runs_of_study(std::vector<lab::IndexedRun> runs, const std::string& study,
                                           const std::filesystem::path& store) {
  std::set<std::string> there;
  for (const lab::IndexedRun& run : runs)
    if (!run.study.empty()) there.insert(run.study);
  if (there.contains(study)) {
    std::erase_if(runs, [&](const lab::IndexedRun& run) { return run.study != study; });
    return runs;
  }
  const std::vector<std::string> names(there.begin(), there.end());
  throw base::ConfigError(fmt::format(
      "no run in {} is of a study '{}'.{} {}", store.string(), study, base::suggestion(study, names),
      names.empty() ? "None is of any study."
                    : fmt::format("Its studies are: {}.", base::join(names, ", "))));
}

std::string no_runs_text(const std::filesystem::path& store) {
  std::error_code ignored;
  return fmt::format("no runs in {}{}\n", store.string(),
                     std::filesystem::exists(store, ignored) ? "" : ", which does not exist yet");
}

std::string what_was_made(const lab::LateConclusion& late) {
  if (late.made_record) return "made its record from what its ranks wrote";
  return late.made_events ? "its record was there; put its ranks' events together" : "its record was there";
}

}  // namespace

std::vector<Example> RunsCommand::examples() const {
  return {
      {"lockstep runs list --study quickstart",
       "the runs of a study, the newest last; without it all there are"},
      {"lockstep runs export quickstart --format csv -o runs.csv",
       "records of a study, or of runs by their ids"},
      {"lockstep runs conclude ID",
       "the record of a run that was killed with its launcher, or found no room for it"},
      {"lockstep runs import dgx.jsonl", "records that another machine's `runs export` wrote"},
  };
}

std::vector<Flag> RunsCommand::flags() {
  return {
      {.names = "words",
       .value = "ACTION [ID...]",
       .help = "list (default), show ID, export [ID|STUDY...], import FILE|DIR..., conclude ID... "
               "(makes the record of a run whose launcher could not), rm ID..., reindex; an id may be cut "
               "short, or be "
               "the run's directory",
       .known_values = actions(),
       .set = [this](const std::string& typed) { words_.push_back(typed); }},
      {.names = "--study",
       .value = "NAME",
       .help = "with list, export and rm: the runs of this study",
       .set = text(study_)},
      {.names = "--format",
       .value = "HOW",
       .help = "with export: jsonl (default, whole records), csv (a row a run) or study (one STUDY with its "
               "records, for a report elsewhere)",
       .known_values = {"jsonl", "csv", "study"},
       .set = one_of(format_, {"jsonl", "csv", "study"})},
      {.names = "-o,--output",
       .value = "FILE",
       .help = "with export: write there instead of standard output",
       .set = path(output_)},
      {.names = "--spec",
       .help = "with show: only the spec, as YAML (with --json: as JSON)",
       .set = turn_on(spec_)},
      {.names = "--json", .help = "print one JSON document", .set = turn_on(json_)},
      {.names = "--force",
       .help = "with rm: also a run that has no record and may still be running",
       .set = turn_on(force_)},
      {.names = "--shared",
       .help = "with import and conclude: let others into what is written, as far as the umask lets them "
               "(default: it is yours alone)",
       .set = turn_on(shared_)},
      {.names = "--store",
       .value = "DIR",
       .help = "where runs are kept (default: LOCKSTEP_STORE, else the XDG data directory)",
       .set = [this](const std::string& typed) { store_ = typed; }}};
}

std::filesystem::path RunsCommand::store() const {
  return lab::find_existing_store(store_);
}

int RunsCommand::list(const Words& names, const Console& console) const {
  refuse_names(names, "list");
  const std::filesystem::path place = store();
  lab::RunIndex index = lab::RunIndex::open(place);
  std::vector<lab::IndexedRun> runs = index.runs();
  if (!study_.empty()) runs = runs_of_study(std::move(runs), study_, place);
  if (json_)
    console.print(base::json_text(runs_json(runs, place), 2) + "\n");
  else
    console.print(runs.empty() ? no_runs_text(place) : runs_text(runs, console));
  return 0;
}

int RunsCommand::show_spec(const std::string& id, const Console& console) const {
  const record::RunSpec spec = lab::RunDirectory::open(store(), id).spec();
  console.print(json_ ? base::json_text(record::to_json(spec), 2) + "\n" : yaml_of(spec));
  return 0;
}

int RunsCommand::show(const Words& ids, const Console& console) const {
  require_names(ids, "show");
  if (ids.size() > 1) throw base::UsageError("`lockstep runs show` takes one id.");
  if (spec_) return show_spec(ids.front(), console);
  const lab::RunDirectory run = lab::RunDirectory::open(store(), ids.front());
  const RunRecord record = lab::read_record(run);
  console.print(json_ ? base::json_text(record::to_json(record), 2) + "\n"
                      : summary_of(record, {run.path()}, console));
  return 0;
}

int RunsCommand::conclude(const Words& ids, const Console& console) const {
  require_names(ids, "conclude");
  const base::PrivateFiles private_files(!shared_);
  for (const std::string& id : ids) {
    const lab::RunDirectory run = lab::RunDirectory::open(store(), id);
    const lab::LateConclusion late = lab::conclude_late(run);
    console.print(fmt::format("{} {}: {}\n", run.id(), late.record.status, what_was_made(late)));
  }
  return 0;
}

// All are found before the first is removed.
int RunsCommand::remove(const Words& names, const Console& console) const {
  std::vector<lab::RunDirectory> runs;
  lab::RunIndex index = lab::RunIndex::open(store());
  if (!study_.empty())
    for (const lab::IndexedRun& run : runs_of_study(index.runs(), study_, store()))
      runs.emplace_back(lab::runs_of(store()) / run.id);
  if (study_.empty()) require_names(names, "rm");
  for (const std::string& id : names) runs.push_back(lab::RunDirectory::open(store(), id));
  for (const lab::RunDirectory& run : runs)
    if (!run.has_record() && !force_)
      throw base::ConfigError(
          fmt::format("run {} has no record: it may still be running. Use --force to remove it.", run.id()));
  for (const lab::RunDirectory& run : runs) {
    run.remove();
    index.drop(run.id());
    console.print(fmt::format("removed {}\n", run.id()));
  }
  return 0;
}

std::vector<RunRecord> RunsCommand::chosen_records(const Words& names) const {
  if (names.empty() && study_.empty()) return lab::read_records(store());
  std::vector<RunRecord> records;
  if (!study_.empty()) records = named_records(store(), study_);
  for (const std::string& name : names)
    for (RunRecord& record : named_records(store(), name)) records.push_back(std::move(record));
  return lab::each_once(std::move(records));
}

std::string RunsCommand::whole_study(const Words& names) const {
  if (names.size() + (study_.empty() ? 0 : 1) != 1)
    throw base::UsageError("--format study takes the name of one study: lockstep runs export STUDY.");
  return lab::to_travelling_json(store(), study_.empty() ? names.front() : study_);
}

int RunsCommand::take_out(const Words& names, const Console& console) const {
  if (format_ == "study") return hand_out(whole_study(names), "the study", console);
  const std::vector<RunRecord> records = chosen_records(names);
  return hand_out(format_ == "csv" ? lab::to_csv(records) : lab::to_json_lines(records),
                  base::counted(std::ssize(records), "record"), console);
}

// Prints it, or writes it to --output and says what is there.
int RunsCommand::hand_out(const std::string& text, const std::string& what, const Console& console) const {
  if (output_.empty()) {
    console.print(text);
    return 0;
  }
  measure::write_whole_file(output_, [&text](std::ostream& out) { out << text; });
  console.note(fmt::format("{} in {}\n", what, output_.string()));
  return 0;
}

int RunsCommand::take_in(const Words& files, const Console& console) const {
  const base::PrivateFiles private_files(!shared_);
  if (files.empty())
    throw base::UsageError("import what? lockstep runs import FILE.jsonl, a run's directory or a store.");
  std::vector<RunRecord> records;  // all are read, and so found good, before the first is taken in
  for (const std::string& file : files)
    for (RunRecord& record : lab::read_records(file)) records.push_back(std::move(record));
  std::map<lab::Imported, int> counts;
  for (const RunRecord& record : records) ++counts[lab::import_record(lab::find_store(store_), record)];
  console.print(fmt::format("{} imported, {} known already\n",
                            base::counted(counts[lab::Imported::added], "run"),
                            counts[lab::Imported::known]));
  return 0;
}

int RunsCommand::reindex(const Words& names, const Console& console) const {
  refuse_names(names, "reindex");
  const std::vector<lab::IndexedRun> runs = lab::RunIndex::rebuild(store()).runs();
  console.print(base::counted(std::ssize(runs), "run") + "\n");
  lab::warn_of_damage(runs);
  return 0;
}

int RunsCommand::run(const Invocation& invocation) {
  const std::string action = words_.empty() ? "list" : words_.front();
  require_known("action of `lockstep runs`", action, actions());
  const Words names(words_.begin() + (words_.empty() ? 0 : 1), words_.end());
  using Action = int (RunsCommand::*)(const Words&, const Console&) const;
  static const std::map<std::string, Action> kActions = {
      {"list", &RunsCommand::list},         {"show", &RunsCommand::show},
      {"export", &RunsCommand::take_out},   {"import", &RunsCommand::take_in},
      {"conclude", &RunsCommand::conclude}, {"rm", &RunsCommand::remove},
      {"reindex", &RunsCommand::reindex}};
  return (this->*kActions.at(action))(names, invocation.console);
}

}  // namespace lockstep::cli
