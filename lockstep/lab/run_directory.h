// One directory per run, STORE/runs/<id>/: the truth about that run. Ranks append to it, the launcher (or
// rank 0, where there is none) concludes it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lockstep/base/durable.h"
#include "lockstep/record/spec.h"

namespace lockstep::lab {

// --store where given, else LOCKSTEP_STORE, else the XDG data directory's lockstep. It need not exist yet.
// Throws ConfigError when it is something else than a directory.
std::filesystem::path find_store(const std::optional<std::filesystem::path>& given);
// The same for those who only read: one that is named must exist. The default one need not, as before the
// first run.
std::filesystem::path find_existing_store(const std::optional<std::filesystem::path>& given);

// "20260102T030405.678Z-1a2b3c4d-9f8e": UTC time, the beginning of the spec's hash, random digits. Ids sort
// by time.
std::string make_run_id(const record::RunSpec& spec);

// Where a run belongs that a study started: in place.json from its first moment, so that a killed study finds
// its own.
struct StudyPlace {
  std::string study;
  std::string cell;
  std::int64_t repeat = 1;
  bool operator==(const StudyPlace&) const = default;
};

// What whoever starts a run knows of it and its ranks do not: in launch.json from its first moment, for a
// record that somebody else makes.
struct RunLaunch {
  double commanded_at = 0;         // when the command began: seconds since 1970
  nlohmann::json machine;          // the launcher's
  std::optional<int> local_world;  // workers on that machine; else all
};

class RunDirectory {
 public:
  // Makes a directory for a new run of this spec in the store, with its spec.json (and place.json,
  // launch.json): whole or not at all. Throws StoreError.
  static RunDirectory create(const std::filesystem::path& store, const record::RunSpec& spec,
                             const std::optional<StudyPlace>& place = std::nullopt,
                             const std::optional<RunLaunch>& launch = std::nullopt);
  // The run of an id, of the beginning of one (if only one begins so), or in a directory. Throws ConfigError
  // when there is none, or several, with what there is.
  static RunDirectory open(const std::filesystem::path& store, const std::string& name);
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::string id() const { return path_.filename().string(); }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path spec_file() const { return path_ / "spec.json"; }
  std::filesystem::path place_file() const { return path_ / "place.json"; }
  std::filesystem::path launch_file() const { return path_ / "launch.json"; }
  std::filesystem::path record_file() const { return path_ / "record.json"; }
  std::filesystem::path events_file() const { return path_ / "events.jsonl"; }
  std::filesystem::path rank_file(int rank) const;
  std::filesystem::path logs() const { return path_ / "logs"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  // Throws StoreError or ConfigError.
  record::RunSpec spec() const;
  // Nothing where no study started it. A damaged file is made up for by what else tells of the place:
  // launch.json, and the record.
  std::optional<StudyPlace> place() const;
  // False too where the directory is another user's alone.
  bool has_record() const;
  // Writes place.json again where it is damaged; whether it was. Throws StoreError.
  bool mend_place() const;
  // Nothing where nobody said, or the file is damaged.
  std::optional<RunLaunch> launch() const;
  // As long as what is returned lasts, this process works on the run, as its ranks do while they write
  // events.
  base::UniqueFd hold() const { return base::hold_file(spec_file()); }
  // Whether anybody works on it.
  bool is_alive() const;
  // Removes the directory with all that is in it. Throws StoreError.
  void remove() const;

 private:
  std::filesystem::path path_;
};

// Where runs lie in a store.
std::filesystem::path runs_of(const std::filesystem::path& store);

// Where a run's first files are written, beside its place, so that it is there whole or not at all.
RunDirectory draft_of(const RunDirectory& run);
// Removes the drafts that nobody writes any more: of programs that were killed meanwhile.
void sweep_drafts(const std::filesystem::path& store);

}  // namespace lockstep::lab
