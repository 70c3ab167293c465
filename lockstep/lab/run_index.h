// The index of a store, STORE/index.sqlite: one row a run, so that lists and the runs of a study are found
// without opening every record. The directories are the truth: the index follows them whenever it is read,
// and can be thrown away at any time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/lab/run_directory.h"
#include "lockstep/lab/sqlite.h"
#include "lockstep/record/record.h"

namespace lockstep::lab {

// What lists show of a run.
struct IndexedRun {
  std::string id;
  bool has_record = false;  // false: still running, or killed before it was written
  std::string damage;       // why a record that is there cannot be read
  std::string study, cell;
  std::int64_t repeat = 0;  // 0: it belongs to no study
  std::string spec_hash, started_at, status, engine, model, data, strategy, backend, device, host;
  std::int64_t workers = 0;
  bool oversubscribed = false;
  std::optional<double> samples_per_second, step_seconds, total_seconds;
  std::optional<double> loss;  // the last validation loss, else the last training loss
  std::string stamp;           // of the record's file: size and time of its last change
  bool operator==(const IndexedRun&) const = default;
};

class RunIndex {
 public:
  // Brings the index up to the directories. Where it cannot be written, or is damaged beyond repair, the same
  // answers come from the directories alone, more slowly; a damaged one is warned of.
  static RunIndex open(const std::filesystem::path& store);
  // Throws away what there is and reads every directory. Throws StoreError when it cannot be written.
  static RunIndex rebuild(const std::filesystem::path& store);

  // The oldest first; of one study where it is named.
  std::vector<IndexedRun> runs(const std::optional<std::string>& study = std::nullopt);
  void put(const IndexedRun& run);
  void drop(const std::string& id);

 private:
  explicit RunIndex(const std::filesystem::path& file);
  static RunIndex follow(const std::filesystem::path& file, const std::filesystem::path& store);
  void follow_directories(const std::filesystem::path& store);

  Database database_;
};

std::filesystem::path index_file(const std::filesystem::path& store);
IndexedRun indexed(const RunDirectory& run, const record::RunRecord& record);

// Adds a concluded run. Trouble with the index is no trouble for the run: it is found again when the index is
// read.
void note_in_index(const RunDirectory& run, const record::RunRecord& record) noexcept;

// Says which runs have a record that cannot be read, and why.
void warn_of_damage(std::span<const IndexedRun> runs);

// The records of one study's runs, the oldest first; runs without a record are left out, damaged ones with a
// warning. Throws StoreError.
std::vector<record::RunRecord> records_of_study(const std::filesystem::path& store, const std::string& study);

}  // namespace lockstep::lab
