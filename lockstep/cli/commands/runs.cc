#include "lockstep/cli/commands/runs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/live_status.h"
#include "lockstep/cli/train/spec_text.h"
#include "lockstep/cli/train/summary.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/run_list.h"

namespace lockstep::cli {
namespace {

using record::RunRecord;

std::string field(const RunRecord& record, const char* name) {
  return record.spec.contains(name) && record.spec[name].is_string() ? record.spec[name].get<std::string>()
                                                                     : "";
}

std::string speed(const RunRecord& record) {
  return record.steps.samples_per_second
             ? with_commas(static_cast<std::uint64_t>(*record.steps.samples_per_second))
             : "";
}

// The last validation loss, else the last training loss.
std::string loss(const RunRecord& record) {
  if (record.epochs.empty()) return "";
  const record::EpochFigures& last = record.epochs.back();
  const std::optional<double> value = last.val_loss ? last.val_loss : last.train_loss;
  return value ? fmt::format("{:.4g}", *value) : "";
}

void add_row(TextTable& table, const lab::ListedRun& run) {
  const std::string id = run.directory.id();
  if (!run.record)
    return table.add({id, run.damage.empty() ? "no record" : "damaged", "", "", "", "", "", "", ""});
  const RunRecord& record = *run.record;
  table.add({id, record.status, field(record, "model"), field(record, "data"), field(record, "strategy"),
             field(record, "backend"), std::to_string(record.workers), speed(record), loss(record)});
}

nlohmann::ordered_json json_of(const lab::ListedRun& run) {
  nlohmann::ordered_json json = {{"id", run.directory.id()}, {"directory", run.directory.path().string()}};
  if (!run.damage.empty()) json["damage"] = run.damage;
  if (!run.record) return json;
  const RunRecord& record = *run.record;
  json["status"] = record.status;
  json["started_at"] = record.started_at;
  json["spec_hash"] = record.spec_hash;
  for (const char* name : {"engine", "model", "data", "strategy", "backend", "device"})
    json[name] = field(record, name);
  json["workers"] = record.workers;
  if (record.steps.samples_per_second) json["samples_per_second"] = *record.steps.samples_per_second;
  return json;
}

}  // namespace

std::vector<Example> RunsCommand::examples() const {
  return {
      {"lockstep runs list", "every run of the store, the newest last"},
      {"lockstep runs show 20260102T03", "the run whose id begins so, as `train` printed it"},
      {"lockstep runs show ID --spec > run.yaml", "the spec that made it, for `lockstep train run.yaml`"},
      {"lockstep runs rm ID", "remove a run with its events, logs and checkpoints"},
  };
}

std::vector<Flag> RunsCommand::flags() {
  return {{.names = "words",
           .value = "list|show ID|rm ID...",
           .help = "what to do (default list); an id may be cut short, or be the run's directory",
           .known_values = {"list", "show", "rm"},
           .set = [this](const std::string& typed) { words_.push_back(typed); }},
          {.names = "--spec",
           .help = "with show: only the spec, as YAML (with --json: as JSON)",
           .set = turn_on(spec_)},
          {.names = "--json", .help = "print one JSON document", .set = turn_on(json_)},
          {.names = "--force",
           .help = "with rm: also a run that has no record and may still be running",
           .set = turn_on(force_)},
          {.names = "--store",
           .value = "DIR",
           .help = "where runs are kept (default: LOCKSTEP_STORE, else the XDG data directory)",
           .set = [this](const std::string& typed) { store_ = typed; }}};
}

std::filesystem::path RunsCommand::store() const {
  return lab::find_store(store_);
}

int RunsCommand::list(const Console& console) const {
  const std::vector<lab::ListedRun> runs = lab::list_runs(store());
  if (json_) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const lab::ListedRun& run : runs) all.push_back(json_of(run));
    console.print(all.dump(2) + "\n");
    return 0;
  }
  TextTable table({{"id", false},
                   {"status", false},
                   {"model", false},
                   {"data", false},
                   {"strategy", false},
                   {"backend", false},
                   {"workers"},
                   {"samples/s"},
                   {"loss"}});
  for (const lab::ListedRun& run : runs) add_row(table, run);
  console.print(runs.empty() ? fmt::format("no runs in {}\n", store().string()) : table.text(console, 0));
  return 0;
}

int RunsCommand::show_spec(const std::string& id, const Console& console) const {
  const record::RunSpec spec = lab::RunDirectory::open(store(), id).spec();
  console.print(json_ ? record::to_json(spec).dump(2) + "\n" : yaml_of(spec));
  return 0;
}

int RunsCommand::show(const std::string& id, const Console& console) const {
  if (spec_) return show_spec(id, console);
  const lab::RunDirectory run = lab::RunDirectory::open(store(), id);
  const RunRecord record = lab::read_record(run);
  console.print(json_ ? record::to_json(record).dump(2) + "\n" : summary_of(record, run.path(), console));
  return 0;
}

// All are found before the first is removed.
int RunsCommand::remove(const std::vector<std::string>& ids, const Console& console) const {
  std::vector<lab::RunDirectory> runs;
  for (const std::string& id : ids) runs.push_back(lab::RunDirectory::open(store(), id));
  for (const lab::RunDirectory& run : runs)
    if (!run.has_record() && !force_)
      throw base::ConfigError(
          fmt::format("run {} has no record: it may still be running. Use --force to remove it.", run.id()));
  for (const lab::RunDirectory& run : runs) {
    run.remove();
    console.print(fmt::format("removed {}\n", run.id()));
  }
  return 0;
}

int RunsCommand::run(const Invocation& invocation) {
  const std::string action = words_.empty() ? "list" : words_.front();
  require_known("action of `lockstep runs`", action, {"list", "show", "rm"});
  const std::vector<std::string> ids(words_.begin() + (words_.empty() ? 0 : 1), words_.end());
  if (action == "list") {
    if (!ids.empty())
      throw base::UsageError("`lockstep runs list` takes no id; `lockstep runs show ID` does.");
    return list(invocation.console);
  }
  if (ids.empty())
    throw base::UsageError(
        fmt::format("which run? lockstep runs {} ID; `lockstep runs list` shows ids.", action));
  if (action == "rm") return remove(ids, invocation.console);
  if (ids.size() > 1) throw base::UsageError("`lockstep runs show` takes one id.");
  return show(ids.front(), invocation.console);
}

}  // namespace lockstep::cli
