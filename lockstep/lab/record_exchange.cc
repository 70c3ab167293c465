#include "lockstep/lab/record_exchange.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/run_index.h"
#include "lockstep/lab/run_list.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using RecordList = std::vector<record::RunRecord>;

record::RunRecord record_of(const Json& json, const std::string& place) {
  if (json.is_discarded()) throw base::DataError(place + "this is not JSON.");
  if (!json.is_object()) throw base::DataError(place + "this is no record: a record is a JSON object.");
  try {
    return record::record_from_json(json);
  } catch (const base::StoreError& error) {
    throw base::DataError(place + error.what());
  }
}

RecordList records_of_file(const fs::path& file) {
  const std::string text = read_whole(file);
  const Json whole = base::try_parse_json(text);
  RecordList records;
  if (whole.is_object() && whole.contains("records")) {  // a study that travels with them
    for (const Json& record : whole["records"]) records.push_back(record_of(record, file.string() + ": "));
    return records;
  }
  if (!whole.is_discarded()) return {record_of(whole, file.string() + ": ")};
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    if (!line.empty())
      records.push_back(record_of(base::try_parse_json(line), fmt::format("{}:{}: ", file.string(), number)));
  return records;
}

RecordList records_of_store(const fs::path& store) {
  RecordList records;
  for (ListedRun& run : list_runs(store)) take_record(records, std::move(run));
  return records;
}

bool same_record(const RunDirectory& run, const record::RunRecord& record) {
  return run.has_record() && record::to_json(read_record(run)) == record::to_json(record);
}

}  // namespace

RecordList each_once(RecordList records) {
  std::map<std::string, Json> known;
  RecordList once;
  for (record::RunRecord& record : records) {
    const auto [found, is_new] = known.emplace(record.id, record::to_json(record));
    if (is_new)
      once.push_back(std::move(record));
    else if (found->second != record::to_json(record))
      throw base::DataError(
          fmt::format("two different records have the id {}: which one is meant?", record.id));
  }
  return once;
}

std::string to_json_lines(std::span<const record::RunRecord> records) {
  std::string text;
  for (const record::RunRecord& record : records) text += base::json_text(record::to_json(record)) + "\n";
  return text;
}

RecordList read_records(const fs::path& from) {
  std::error_code ignored;
  if (fs::is_regular_file(from, ignored)) return records_of_file(from);
  if (fs::is_regular_file(from / "record.json", ignored)) return records_of_file(from / "record.json");
  if (fs::is_directory(runs_of(from), ignored)) return records_of_store(from);
  throw base::DataError(
      fmt::format("{} is neither a file of records, nor a run's directory, nor a store.", from.string()));
}

// Beside its place first, so that a run is there whole or not at all.
Imported import_record(const fs::path& store, const record::RunRecord& record) {
  const RunDirectory run(runs_of(store) / record.id);
  if (fs::exists(run.path())) {
    if (same_record(run, record)) return Imported::known;
    throw base::DataError(fmt::format("run {} is in this store already, with another record.", record.id));
  }
  const RunDirectory draft = draft_of(run);
  std::error_code error = base::make_durable_directory(draft.path());
  if (!error) {
    write_atomically(draft.spec_file(), base::json_text(record.spec, 2) + "\n");
    write_atomically(draft.record_file(), base::json_text(record::to_json(record), 2) + "\n");
    error = base::rename_durably(draft.path(), run.path());
  }
  if (error)
    throw base::StoreError(fmt::format("run {} cannot be written: {}.{}", record.id, error.message(),
                                       store_next_step(error.value(), run.path())));
  note_in_index(run, record);
  return Imported::added;
}

}  // namespace lockstep::lab
