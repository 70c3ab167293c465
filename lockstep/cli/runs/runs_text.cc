#include "lockstep/cli/runs/runs_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/cli/text_table.h"
#include "lockstep/cli/train/live_status.h"

namespace lockstep::cli {
namespace {

using lab::IndexedRun;

std::string status_of(const IndexedRun& run) {
  if (run.has_record) return run.status;
  return run.damage.empty() ? "no record" : "damaged";
}

std::string study_of(const IndexedRun& run) {
  return run.study.empty() ? "" : fmt::format("{} {} #{}", run.study, run.cell, run.repeat);
}

nlohmann::ordered_json json_of(const IndexedRun& run, const std::filesystem::path& store) {
  nlohmann::ordered_json json = {{"id", run.id}, {"directory", (lab::runs_of(store) / run.id).string()}};
  if (!run.damage.empty()) json["damage"] = run.damage;
  if (!run.study.empty()) {
    json["study"] = run.study;
    json["cell"] = run.cell;
    json["repeat"] = run.repeat;
  }
  json["status"] = status_of(run);
  if (!run.has_record) return json;
  json["started_at"] = run.started_at;
  json["spec_hash"] = run.spec_hash;
  json["engine"] = run.engine;
  json["model"] = run.model;
  json["data"] = run.data;
  json["strategy"] = run.strategy;
  json["backend"] = run.backend;
  json["device"] = run.device;
  json["host"] = run.host;
  json["workers"] = run.workers;
  if (run.oversubscribed) json["oversubscribed"] = true;
  if (run.samples_per_second) json["samples_per_second"] = *run.samples_per_second;
  if (run.step_seconds) json["step_seconds"] = *run.step_seconds;
  if (run.loss) json["loss"] = *run.loss;
  return json;
}

}  // namespace

std::string runs_text(const std::vector<IndexedRun>& runs, const Console& console) {
  TextTable table({{"id", false},
                   {"status", false},
                   {"model", false},
                   {"data", false},
                   {"strategy", false},
                   {"backend", false},
                   {"workers"},
                   {"samples/s"},
                   {"val or train loss"},
                   {"study", false}});
  for (const IndexedRun& run : runs)
    table.add({run.id, status_of(run), run.model, run.data, run.strategy, run.backend,
               run.has_record ? std::to_string(run.workers) : "",
               run.samples_per_second ? rounded_with_commas(*run.samples_per_second) : "",
               run.loss ? fmt::format("{:.4g}", *run.loss) : "", study_of(run)});
  return table.text(console, 0);
}

nlohmann::ordered_json runs_json(const std::vector<IndexedRun>& runs, const std::filesystem::path& store) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const IndexedRun& run : runs) all.push_back(json_of(run, store));
  return all;
}

}  // namespace lockstep::cli
