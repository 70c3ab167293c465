#include "lockstep/lab/run_index.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/lab/conclude.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/lab/run_list.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;

// A later layout has another name, so that two versions do not quarrel over one store.
constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS runs_2 (id TEXT PRIMARY KEY, has_record INTEGER, damage TEXT, study TEXT, "
    "cell TEXT, repeat INTEGER, spec_hash TEXT, started_at TEXT, status TEXT, engine TEXT, model TEXT, "
    "data TEXT, strategy TEXT, backend TEXT, device TEXT, host TEXT, workers INTEGER, "
    "oversubscribed INTEGER, samples_per_second REAL, step_seconds REAL, total_seconds REAL, loss REAL, "
    "stamp TEXT);"
    "CREATE INDEX IF NOT EXISTS runs_2_study ON runs_2 (study);";
constexpr const char* kPut =
    "INSERT OR REPLACE INTO runs_2 VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

std::string spec_text(const record::RunRecord& record, const char* name) {
  const auto found = record.spec.find(name);
  return found != record.spec.end() && found->is_string() ? found->get<std::string>() : "";
}

void put_row(Statement& put, const IndexedRun& run) {
  put.bind(run.id).bind(std::int64_t{run.has_record}).bind(run.damage).bind(run.study).bind(run.cell);
  put.bind(run.repeat).bind(run.spec_hash).bind(run.started_at).bind(run.status).bind(run.engine);
  put.bind(run.model).bind(run.data).bind(run.strategy).bind(run.backend).bind(run.device).bind(run.host);
  put.bind(run.workers).bind(std::int64_t{run.oversubscribed}).bind(run.samples_per_second);
  put.bind(run.step_seconds).bind(run.total_seconds).bind(run.loss).bind(run.stamp);
  put.step();
  put.reset();
}

IndexedRun row_of(const Statement& row) {
  IndexedRun run;
  int column = 0;
  run.id = row.text(column++);
  run.has_record = row.integer(column++) != 0;
  run.damage = row.text(column++);
  run.study = row.text(column++);
  run.cell = row.text(column++);
  run.repeat = row.integer(column++);
  for (std::string* text : {&run.spec_hash, &run.started_at, &run.status, &run.engine, &run.model, &run.data,
                            &run.strategy, &run.backend, &run.device, &run.host})
    *text = row.text(column++);
  run.workers = row.integer(column++);
  run.oversubscribed = row.integer(column++) != 0;
  for (std::optional<double>* number :
       {&run.samples_per_second, &run.step_seconds, &run.total_seconds, &run.loss})
    *number = row.number(column++);
  run.stamp = row.text(column++);
  return run;
}

// The names of what lies in runs/, without looking inside.
std::set<std::string> ids_on_disk(const fs::path& store) {
  std::set<std::string> ids;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs_of(store), ignored)) {
    std::string id = entry.path().filename().string();
    if (!id.starts_with('.')) ids.insert(std::move(id));
  }
  return ids;
}

// Changes whenever the record's file does; empty where there is none.
std::string stamp_of(const fs::path& record_file) {
  struct stat facts {};
  if (::stat(record_file.c_str(), &facts) != 0) return "";
  return fmt::format("{}:{}.{:09}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

bool can_be_written(const fs::path& store) {
  const fs::path file = index_file(store);
  const bool file_is_writable = ::access(file.c_str(), F_OK) != 0 || ::access(file.c_str(), W_OK) == 0;
  return file_is_writable && ::access(store.c_str(), W_OK | X_OK) == 0;
}

IndexedRun without_record(const ListedRun& listed) {
  IndexedRun run;
  run.id = listed.directory.id();
  run.damage = listed.damage;
  run.stamp = stamp_of(listed.directory.record_file());
  if (const auto place = listed.directory.place()) {
    run.study = place->study;
    run.cell = place->cell;
    run.repeat = place->repeat;
  }
  return run;
}

IndexedRun read_indexed(const fs::path& path) {
  const ListedRun listed = list_run(path);
  return listed.record ? indexed(listed.directory, *listed.record) : without_record(listed);
}

std::string host_of(const record::RunRecord& record) {
  const auto host = record.machine.find("host");
  return record.machine.is_object() && host != record.machine.end() && host->is_string()
             ? host->get<std::string>()
             : "";
}

}  // namespace

fs::path index_file(const fs::path& store) {
  return store / "index.sqlite";
}

IndexedRun indexed(const RunDirectory& directory, const record::RunRecord& record) {
  IndexedRun run;
  run.id = directory.id();
  run.has_record = true;
  run.stamp = stamp_of(directory.record_file());
  run.study = record.study.value_or("");
  run.cell = record.cell.value_or("");
  run.repeat = record.repeat.value_or(0);
  run.spec_hash = record.spec_hash;
  run.started_at = record.started_at;
  run.status = record.status;
  run.engine = record.engine;
  run.model = spec_text(record, "model");
  run.data = spec_text(record, "data");
  run.strategy = spec_text(record, "strategy");
  run.backend = spec_text(record, "backend");
  run.device = spec_text(record, "device");
  run.host = host_of(record);
  run.workers = record.workers;
  run.oversubscribed = record.oversubscribed.value_or(false);
  run.samples_per_second = record.steps.samples_per_second;
  run.step_seconds = find_run_figure("step_seconds")->of(record);
  run.total_seconds = record.wall_seconds.total;
  run.loss = find_run_figure("val_loss")->of(record);
  if (!run.loss) run.loss = find_run_figure("train_loss")->of(record);
  return run;
}

namespace {

// A new index is as open as the store's directory: it tells of all runs, and whoever may add runs writes it.
fs::path made_as_open_as_its_store(const fs::path& file) {
  struct stat store {};
  if (!file.empty() && ::stat(file.parent_path().c_str(), &store) == 0)
    base::UniqueFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, store.st_mode & 0666));
  return file;
}

}  // namespace

RunIndex::RunIndex(const fs::path& file) : database_(made_as_open_as_its_store(file)) {
  database_.run(kSchema);
}

RunIndex RunIndex::follow(const fs::path& file, const fs::path& store) {
  RunIndex index(file);
  index.follow_directories(store);
  return index;
}

RunIndex RunIndex::open(const fs::path& store) {
  std::error_code ignored;
  if (!fs::exists(runs_of(store), ignored)) return follow({}, store);  // reading must not make a store
  try {
    return follow(index_file(store), store);
  } catch (const SqliteError& error) {
    const std::string what = "the index " + index_file(store).string() + " cannot be used (" + error.what() +
                             "); the runs' directories are read instead.";
    // Nobody who may only read a store is asked to mend it.
    if (can_be_written(store))
      base::log_warning(what + " Next step: lockstep runs reindex.");
    else
      base::log_debug(what);
    return follow({}, store);
  }
}

RunIndex RunIndex::rebuild(const fs::path& store) {
  std::error_code ignored;
  fs::remove(index_file(store), ignored);
  fs::remove(index_file(store).string() + "-journal", ignored);
  try {
    return follow(index_file(store), store);
  } catch (const SqliteError& error) {
    throw base::StoreError("the index " + index_file(store).string() + " cannot be written: " + error.what() +
                           ". Next step: make the store writable; lists work without an index, more slowly.");
  }
}

// Runs that had no record are looked at again, as are those whose record has changed; new ones are read, and
// those that have gone are dropped. What is to be written is read first: the lock is held for moments only.
void RunIndex::follow_directories(const fs::path& store) {
  const std::set<std::string> on_disk = ids_on_disk(store);
  std::set<std::string> complete;
  std::vector<std::string> gone;
  for (const IndexedRun& run : runs()) {
    if (!on_disk.contains(run.id))
      gone.push_back(run.id);
    else if (run.has_record && run.stamp == stamp_of(RunDirectory(runs_of(store) / run.id).record_file()))
      complete.insert(run.id);
  }
  std::vector<IndexedRun> fresh;
  std::error_code ignored;
  for (const std::string& id : on_disk)
    if (!complete.contains(id) && fs::exists(runs_of(store) / id / "spec.json", ignored))
      fresh.push_back(read_indexed(runs_of(store) / id));
  if (gone.empty() && fresh.empty()) return;
  Transaction transaction(database_);
  for (const std::string& id : gone) drop(id);
  Statement put(database_, kPut);
  for (const IndexedRun& run : fresh) put_row(put, run);
  transaction.commit();
}

std::vector<IndexedRun> RunIndex::runs(const std::optional<std::string>& study) {
  Statement select(database_, study ? "SELECT * FROM runs_2 WHERE study = ? ORDER BY id"
                                    : "SELECT * FROM runs_2 ORDER BY id");
  if (study) select.bind(*study);
  std::vector<IndexedRun> all;
  while (select.step()) all.push_back(row_of(select));
  return all;
}

void RunIndex::put(const IndexedRun& run) {
  Statement statement(database_, kPut);
  put_row(statement, run);
}

void RunIndex::drop(const std::string& id) {
  Statement statement(database_, "DELETE FROM runs_2 WHERE id = ?");
  statement.bind(id).step();
}

void note_in_index(const RunDirectory& run, const record::RunRecord& record) noexcept {
  try {
    Database database(made_as_open_as_its_store(index_file(run.path().parent_path().parent_path())));
    database.run(kSchema);
    Statement put(database, kPut);
    put_row(put, indexed(run, record));
  } catch (const std::exception& error) {
    base::log_debug(std::string("the index was not written: ") + error.what());
  }
}

void warn_of_damage(std::span<const IndexedRun> runs) {
  for (const IndexedRun& run : runs)
    if (!run.damage.empty())
      base::log_warning(
          fmt::format("run {} is left out: {} Next step: lockstep runs rm {} --force, and run it again.",
                      run.id, run.damage, run.id));
}

std::vector<record::RunRecord> records_of_study(const fs::path& store, const std::string& study) {
  std::vector<record::RunRecord> records;
  RunIndex index = RunIndex::open(store);
  for (const IndexedRun& run : index.runs(study)) take_record(records, list_run(runs_of(store) / run.id));
  return records;
}

}  // namespace lockstep::lab
