// What a store keeps of a study, STORE/studies/<id>/: the file it was read from, how it was asked for, its
// cells with their specs' hashes and how each ended. Runs belong to a study by name, cell, repeat and hash:
// a run of another version of a spec is never counted.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/lab/run_directory.h"
#include "lockstep/lab/study_state.h"

namespace lockstep::lab {

std::filesystem::path study_directory(const std::filesystem::path& store, const std::string& id);

// Nobody else runs this study in this store while one exists. Throws StoreError: another program
// runs it, or the store cannot be written.
class StudyLock {
 public:
  StudyLock(const std::filesystem::path& store, const std::string& id);

 private:
  base::UniqueFd fd_;
};

struct StoredCell {
  Cell cell;  // resolved
  std::string cannot_run;
  std::string stand_in;
  bool oversubscribed = false;
  std::string end;  // why it was not repeated further; empty while it goes on
};

// A study as it was last run in a store: what a report reads.
struct StoredStudy {
  Study study;
  std::vector<StoredCell> cells;
  // Whether a record belongs to it, with the spec of this version.
  bool holds(const record::RunRecord& record) const;
};

void keep_study(const std::filesystem::path& store, const StudyPlan& plan, const StudyState& state);
// Nothing where the store has no such study. Throws StoreError for a damaged one.
std::optional<StoredStudy> stored_study(const std::filesystem::path& store, const std::string& id);
std::vector<std::string> stored_study_ids(const std::filesystem::path& store);
// The records of the study as it was last run, the oldest first.
std::vector<record::RunRecord> records_of(const std::filesystem::path& store, const StoredStudy& study);

// A study with its records, as one file that travels: what a report elsewhere needs.
struct TravellingStudy {
  StoredStudy study;
  std::vector<record::RunRecord> records;
};
// One JSON document. Throws ConfigError where the store has no such study.
std::string to_travelling_json(const std::filesystem::path& store, const std::string& id);
// Nothing for a file of another kind. Throws DataError for a damaged one.
std::optional<TravellingStudy> travelling_study(const std::filesystem::path& file);

// The runs of a study that are in the store.
struct EarlierRun {
  RunDirectory directory;
  std::size_t cell = 0;
  int repeat = 1;
  std::optional<record::RunRecord> record;  // none: it was killed with its study
};
struct EarlierRuns {
  std::vector<EarlierRun> of_this_version;
  std::vector<RunDirectory> of_other_versions;
};
// To be called with the study's lock held.
EarlierRuns earlier_runs(const std::filesystem::path& store, const StudyPlan& plan);

}  // namespace lockstep::lab
