#include "lockstep/cli/report/report_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/study_parse.h"
#include "lockstep/lab/study_store.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using record::RunRecord;

nlohmann::json parsed(const std::string& text, const fs::path& file) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw base::StoreError(
        fmt::format("{} is not JSON: {}. Records come from `lockstep train --json` or `lockstep runs "
                    "export`.",
                    file.string(), error.what()));
  }
}

void add_json(std::vector<RunRecord>& records, const nlohmann::json& json) {
  if (json.is_array())
    for (const nlohmann::json& one : json) records.push_back(record::record_from_json(one));
  else
    records.push_back(record::record_from_json(json));
}

// One document, or one in each line.
void add_file(std::vector<RunRecord>& records, const fs::path& file) {
  const std::string text = lab::read_whole(file);
  try {
    if (file.extension() != ".jsonl") return add_json(records, parsed(text, file));
    for (const std::string& line : base::split(text, '\n'))
      if (!base::trim(line).empty()) add_json(records, parsed(line, file));
  } catch (const base::StoreError& error) {
    throw base::StoreError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

bool is_study_file(const fs::path& file) {
  return file.extension() == ".yaml" || file.extension() == ".yml";
}

std::string remark_of(const lab::StoredCell& cell) {
  std::vector<std::string> parts;
  for (const std::string& part : {cell.cannot_run, cell.stand_in, cell.end})
    if (!part.empty()) parts.push_back(part);
  return base::join(parts, "; ");
}

void take_study(ReportSource& source, const fs::path& store, lab::StoredStudy stored) {
  if (source.study)
    throw base::ConfigError(
        fmt::format("a report is about one study, and both {} and {} are named. Report them one by "
                    "one.",
                    source.study->id(), stored.study.id()));
  for (RunRecord& run : lab::records_of(store, stored)) source.records.push_back(std::move(run));
  for (const lab::StoredCell& cell : stored.cells)
    if (const std::string remark = remark_of(cell); !remark.empty())
      source.notes.push_back({cell.cell.name, remark});
  source.study = std::move(stored.study);
}

[[noreturn]] void refuse(const fs::path& store, const std::string& name, const std::string& why) {
  const std::vector<std::string> ids = lab::stored_study_ids(store);
  const std::string known = ids.empty() ? "it holds no study" : "its studies are: " + base::join(ids, ", ");
  throw base::ConfigError(fmt::format("there is no study, run or file '{}' ({}; the store is {}, {}).{}",
                                      name, why, store.string(), known, base::suggestion(name, ids)));
}

void take_study_file(ReportSource& source, const fs::path& store, const fs::path& file) {
  const lab::Study study = lab::read_study_file(file);
  for (const std::string& id : {study.id(), study.id() + "-quick"})
    if (auto stored = lab::stored_study(store, id)) return take_study(source, store, std::move(*stored));
  throw base::ConfigError(fmt::format("study {} of {} has not been run in {}. Run it: lockstep study {}",
                                      study.name, file.string(), store.string(), file.string()));
}

void take_run(ReportSource& source, const fs::path& store, const std::string& name) {
  std::optional<lab::RunDirectory> run;
  try {
    run = lab::RunDirectory::open(store, name);
  } catch (const base::ConfigError& error) {
    refuse(store, name, error.what());
  }
  source.records.push_back(lab::read_record(*run));
}

}  // namespace

ReportSource find_report_source(const fs::path& store, const std::vector<std::string>& names) {
  ReportSource source;
  for (const std::string& name : names) {
    if (fs::is_regular_file(name) && is_study_file(name))
      take_study_file(source, store, name);
    else if (fs::is_regular_file(name))
      add_file(source.records, name);
    else if (auto stored = lab::stored_study(store, name))
      take_study(source, store, std::move(*stored));
    else
      take_run(source, store, name);
  }
  source.records = lab::each_once(std::move(source.records));
  return source;
}

}  // namespace lockstep::cli
