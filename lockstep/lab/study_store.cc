#include "lockstep/lab/study_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/lab/study_parse.h"
#include "lockstep/lab/study_settings.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void make_directory(const fs::path& directory) {
  if (const std::error_code error = base::make_durable_directory(directory))
    throw base::StoreError(fmt::format("{} cannot be made: {}.{}", directory.string(), error.message(),
                                       store_next_step(error.value(), directory)));
}

// With the system's reason, which is still in errno.
[[noreturn]] void refuse(const fs::path& file, const char* what) {
  const int error_number = errno;
  throw base::StoreError(fmt::format("{} cannot be {}: {}.{}", file.string(), what,
                                     base::errno_text(error_number), store_next_step(error_number, file)));
}

Json json_of(const StudyChoice& choice) {
  Json sets = Json::array();
  for (const FieldSetting& setting : choice.sets)
    sets.push_back({{"field", setting.field}, {"text", setting.text}});
  return {{"quick", choice.quick}, {"sets", sets}};
}

StudyChoice choice_of(const Json& json) {
  StudyChoice choice;
  choice.quick = json.at("quick");
  for (const Json& set : json.at("sets")) choice.sets.push_back({set.at("field"), set.at("text"), kSetPlace});
  return choice;
}

Json json_of(const PlannedCell& planned, const CellEnd& end) {
  Json json = {{"cell", planned.cell.name},
               {"spec_hash", planned.cell.hash},
               {"spec", record::to_json(planned.cell.spec)}};
  if (!planned.cannot_run.empty()) json["cannot_run"] = planned.cannot_run;
  if (!planned.stand_in.empty()) json["stand_in"] = planned.stand_in;
  if (planned.oversubscribed) json["oversubscribed"] = true;
  if (end.ended()) json["end"] = end.text;
  return json;
}

// The axes' values come from the study, the spec as this machine resolved it from the file.
StoredCell cell_of(const Json& json, const std::vector<Cell>& cells, const std::string& origin) {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) {
    return cell.name == json.at("cell").get<std::string>();
  });
  if (found == cells.end())
    throw base::StoreError(fmt::format("{} is damaged: it names no cell of its study.", origin));
  StoredCell stored{*found, json.value("cannot_run", ""), json.value("stand_in", ""),
                    json.value("oversubscribed", false), json.value("end", "")};
  set_spec(stored.cell, record::spec_from_json(json.at("spec"), origin));
  return stored;
}

StoredStudy study_of(const Json& json, const fs::path& file) {
  StoredStudy stored;
  stored.study = parse_study(json.at("text"), json.at("file"), choice_of(json.at("choice")));
  const std::vector<Cell> cells = cells_of(stored.study);
  for (const Json& cell : json.at("cells")) stored.cells.push_back(cell_of(cell, cells, file.string()));
  return stored;
}

const Cell* cell_named(const std::vector<StoredCell>& cells, const std::string& name) {
  for (const StoredCell& stored : cells)
    if (stored.cell.name == name) return &stored.cell;
  return nullptr;
}

}  // namespace

fs::path study_directory(const fs::path& store, const std::string& id) {
  return store / "studies" / id;
}

StudyLock::StudyLock(const fs::path& store, const std::string& id) {
  make_directory(study_directory(store, id));
  const fs::path file = study_directory(store, id) / "lock";
  fd_.reset(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd_) refuse(file, "written");
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) refuse(file, "locked");
  throw base::StoreError(fmt::format(
      "study {} is being run in this store by another program ({} is locked). Next step: wait for "
      "it, or use another store: --store DIR.",
      id, file.string()));
}

void keep_study(const fs::path& store, const StudyPlan& plan, const StudyState& state) {
  const fs::path directory = study_directory(store, plan.study.id());
  make_directory(directory);
  Json cells = Json::array();
  for (std::size_t i = 0; i < plan.cells.size(); ++i)
    cells.push_back(json_of(plan.cells[i], state.end_of(i)));
  const Json json = {{"schema", 1},
                     {"study", plan.study.id()},
                     {"file", plan.study.file_name},
                     {"choice", json_of(plan.study.choice)},
                     {"text", plan.study.source_text},
                     {"cells", cells}};
  write_atomically(directory / "study.json", base::json_text(json, 2) + "\n");
}

std::optional<StoredStudy> stored_study(const fs::path& store, const std::string& id) {
  const fs::path file = study_directory(store, id) / "study.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    return study_of(base::parse_json(read_whole(file)), file);
  } catch (const Json::exception& error) {
    throw base::StoreError(fmt::format("{} is damaged: {}.", file.string(), error.what()));
  }
}

std::vector<std::string> stored_study_ids(const fs::path& store) {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(store / "studies", ignored))
    if (fs::exists(entry.path() / "study.json", ignored)) ids.push_back(entry.path().filename().string());
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool StoredStudy::holds(const record::RunRecord& record) const {
  if (record.study != study.id() || !record.cell || !record.repeat) return false;
  const Cell* cell = cell_named(cells, *record.cell);
  return cell != nullptr && cell->hash_of(static_cast<int>(*record.repeat)) == record.spec_hash;
}

std::vector<record::RunRecord> records_of(const fs::path& store, const StoredStudy& study) {
  std::vector<record::RunRecord> records = records_of_study(store, study.study.id());
  std::erase_if(records, [&](const record::RunRecord& record) { return !study.holds(record); });
  return records;
}

std::string to_travelling_json(const fs::path& store, const std::string& id) {
  const std::optional<StoredStudy> stored = stored_study(store, id);
  if (!stored)
    throw base::ConfigError(
        fmt::format("there is no study '{}' in {}. `lockstep runs list` shows which runs belong to which.",
                    id, store.string()));
  Json json = base::parse_json(read_whole(study_directory(store, id) / "study.json"));
  json["records"] = Json::array();
  for (const record::RunRecord& record : records_of(store, *stored))
    json["records"].push_back(record::to_json(record));
  return base::json_text(json) + "\n";
}

std::optional<TravellingStudy> travelling_study(const fs::path& file) {
  const Json json = base::try_parse_json(read_whole(file));
  if (!json.is_object() || !json.contains("choice") || !json.contains("records")) return std::nullopt;
  try {
    TravellingStudy study{study_of(json, file), {}};
    for (const Json& record : json.at("records")) study.records.push_back(record::record_from_json(record));
    return study;
  } catch (const std::exception& error) {
    throw base::DataError(fmt::format("{} is damaged: {}. Get it again.", file.string(), error.what()));
  }
}

EarlierRuns earlier_runs(const fs::path& store, const StudyPlan& plan) {
  EarlierRuns earlier;
  RunIndex index = RunIndex::open(store);
  for (const IndexedRun& run : index.runs(plan.study.id())) {
    const RunDirectory directory(runs_of(store) / run.id);
    if (!directory.place()) continue;  // it was imported: another machine ran it
    if (directory.mend_place())
      base::log_warning(
          fmt::format("{} was damaged, and is written again from what else tells of the run's place.",
                      directory.place_file().string()));
    const auto cell = std::find_if(plan.cells.begin(), plan.cells.end(),
                                   [&](const PlannedCell& planned) { return planned.cell.name == run.cell; });
    const int repeat = static_cast<int>(run.repeat);
    if (cell == plan.cells.end() || cell->cell.hash_of(repeat) != record::spec_hash(directory.spec())) {
      earlier.of_other_versions.push_back(directory);
      continue;
    }
    std::optional<record::RunRecord> record;
    if (run.has_record) record = read_record(directory);
    earlier.of_this_version.push_back(
        {directory, static_cast<std::size_t>(cell - plan.cells.begin()), repeat, std::move(record)});
  }
  return earlier;
}

}  // namespace lockstep::lab
