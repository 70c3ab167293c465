#include "lockstep/cli/report/report_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/lab/study_parse.h"
#include "lockstep/lab/study_store.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using record::RunRecord;

std::vector<RunRecord> records_of_list(const nlohmann::json& list, const fs::path& file) {
  std::vector<RunRecord> records;
  for (const nlohmann::json& one : list) {
    try {
      records.push_back(record::record_from_json(one));
    } catch (const base::StoreError& error) {
      throw base::DataError(
          fmt::format("{}: record {}: {}", file.string(), records.size() + 1, error.what()));
    }
  }
  return records;
}

// One record, a list of them, or one in each line.
std::vector<RunRecord> records_of_file(const fs::path& file) {
  const nlohmann::json whole = base::try_parse_json(lab::read_whole(file));
  return whole.is_array() ? records_of_list(whole, file) : lab::read_records(file);
}

void add_file(std::vector<RunRecord>& records, const fs::path& file) {
  try {
    for (RunRecord& record : records_of_file(file)) records.push_back(std::move(record));
  } catch (const base::DataError& error) {
    throw base::DataError(
        fmt::format("{} Records come from `lockstep train --json` or `lockstep runs export`.", error.what()));
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

void take_study(ReportSource& source, lab::StoredStudy stored, std::vector<RunRecord> records) {
  if (source.study)
    throw base::ConfigError(
        fmt::format("a report is about one study, and both {} and {} are named. Report them one by "
                    "one.",
                    source.study->id(), stored.study.id()));
  std::move(records.begin(), records.end(), std::back_inserter(source.records));
  for (const lab::StoredCell& cell : stored.cells)
    if (const std::string remark = remark_of(cell); !remark.empty())
      source.notes.push_back({cell.cell.name, remark, !cell.cannot_run.empty()});
  source.study = std::move(stored.study);
}

void take_study(ReportSource& source, const fs::path& store, lab::StoredStudy stored) {
  std::vector<RunRecord> records = lab::records_of(store, stored);
  take_study(source, std::move(stored), std::move(records));
}

// A study with its records, or records alone.
void take_file(ReportSource& source, const fs::path& file) {
  if (auto travelled = lab::travelling_study(file))
    take_study(source, std::move(travelled->study), std::move(travelled->records));
  else
    add_file(source.records, file);
}

// Those that ran here, and those of which runs were imported.
std::vector<std::string> studies_of(const fs::path& store) {
  const std::vector<std::string> stored = lab::stored_study_ids(store);
  std::set<std::string> ids(stored.begin(), stored.end());
  for (const lab::IndexedRun& run : lab::RunIndex::open(store).runs())
    if (!run.study.empty()) ids.insert(run.study);
  return {ids.begin(), ids.end()};
}

[[noreturn]] void refuse(const fs::path& store, const std::string& name) {
  const std::vector<std::string> ids = studies_of(store);
  const std::string known = ids.empty() ? "holds no study" : "has the studies " + base::join(ids, ", ");
  throw base::ConfigError(fmt::format(
      "there is no study, run or file '{}'. The store {} {}; `lockstep runs list` shows its runs.{}", name,
      store.string(), known, base::suggestion(name, ids)));
}

void take_study_file(ReportSource& source, const fs::path& store, const fs::path& file) {
  const lab::Study study = lab::read_study_file(file);
  for (const std::string& id : {study.id(), study.id() + "-quick"})
    if (auto stored = lab::stored_study(store, id)) return take_study(source, store, std::move(*stored));
  throw base::ConfigError(fmt::format("study {} of {} has not been run in {}. Run it: lockstep study {}",
                                      study.name, file.string(), store.string(), file.string()));
}

// Whether some run of the store begins with the name; which one, or that there are several, is told by who
// opens it.
bool names_a_run(const fs::path& store, const std::string& name) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) return true;
  for (const fs::directory_entry& entry : fs::directory_iterator(lab::runs_of(store), ignored))
    if (entry.path().filename().string().starts_with(name)) return true;
  return false;
}

// Imported runs come without their study: the report then stands on the records alone.
bool take_imported_study(ReportSource& source, const fs::path& store, const std::string& name) {
  std::vector<RunRecord> records = lab::records_of_study(store, name);
  std::move(records.begin(), records.end(), std::back_inserter(source.records));
  return !records.empty();
}

void take_run(ReportSource& source, const fs::path& store, const std::string& name) {
  if (!names_a_run(store, name)) refuse(store, name);
  source.records.push_back(lab::read_record(lab::RunDirectory::open(store, name)));
}

}  // namespace

ReportSource find_report_source(const fs::path& store, const std::vector<std::string>& names) {
  ReportSource source;
  for (const std::string& name : names) {
    std::error_code ignored;
    const bool is_file = fs::is_regular_file(name, ignored);
    if (is_file && is_study_file(name))
      take_study_file(source, store, name);
    else if (is_file)
      take_file(source, name);
    else if (auto stored = lab::stored_study(store, name))
      take_study(source, store, std::move(*stored));
    else if (!take_imported_study(source, store, name))
      take_run(source, store, name);
  }
  source.records = lab::each_once(std::move(source.records));
  return source;
}

}  // namespace lockstep::cli
