#include "lockstep/lab/run_directory.h"

#include <fmt/format.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/atomic_file.h"
#include "lockstep/launch/log_directory.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDraftPrefix = ".new-";
// Writing one takes moments.
constexpr auto kLongestDraft = std::chrono::hours(1);

// "20260102T030405.678Z".
std::string utc_timestamp() {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  std::tm utc{};
  ::gmtime_r(&now.tv_sec, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%S", &utc);
  return fmt::format("{}.{:03}Z", text.data(), now.tv_usec / 1000);
}

[[noreturn]] void refuse_store(const fs::path& place, const std::error_code& error) {
  throw base::StoreError(fmt::format("the run's directory {} cannot be made: {}.{}", place.string(),
                                     error.message(), store_next_step(error.value(), place)));
}

bool is_run(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / "spec.json", ignored);
}

nlohmann::json json_of(const StudyPlace& place) {
  return {{"study", place.study}, {"cell", place.cell}, {"repeat", place.repeat}};
}

// Nothing for what is no place, as a damaged file is not.
std::optional<StudyPlace> place_of(const nlohmann::json& json) {
  try {
    return StudyPlace{json.at("study"), json.at("cell"), json.at("repeat")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

// With the place once more: one damaged file loses nothing.
nlohmann::json json_of(const RunLaunch& launch, const std::optional<StudyPlace>& place) {
  nlohmann::json json = {{"commanded_at", launch.commanded_at}, {"machine", launch.machine}};
  if (launch.local_world) json["local_world"] = *launch.local_world;
  if (place) json["place"] = json_of(*place);
  return json;
}

// Null for a file that is absent or damaged.
nlohmann::json read_json(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return nullptr;
  nlohmann::json json = base::try_parse_json(read_whole(file));
  return json.is_discarded() ? nlohmann::json() : json;
}

std::vector<std::string> ids_beginning_with(const fs::path& store, const std::string& prefix) {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs_of(store), ignored)) {
    const std::string id = entry.path().filename().string();
    if (!id.starts_with('.') && id.starts_with(prefix) && is_run(entry.path())) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

[[noreturn]] void refuse_several(const std::string& name, std::vector<std::string> ids) {
  constexpr std::size_t kShown = 5;
  const std::size_t count = ids.size();
  ids.resize(std::min(count, kShown));
  throw base::ConfigError(fmt::format("{} runs begin with '{}': {}{}. Write more of the id.", count, name,
                                      base::join(ids, ", "), count > kShown ? ", ..." : ""));
}

}  // namespace

fs::path find_store(const std::optional<fs::path>& given) {
  if (given && given->empty())
    throw base::UsageError("the store's directory is empty text; name one, or leave --store out.");
  const fs::path store = fs::absolute(given ? *given : launch::default_store());
  std::error_code ignored;
  if (fs::exists(store, ignored) && !fs::is_directory(store, ignored))
    throw base::ConfigError(fmt::format(
        "the store {} is not a directory. Next step: name one with --store DIR or LOCKSTEP_STORE.",
        store.string()));
  return store;
}

fs::path find_existing_store(const std::optional<fs::path>& given) {
  const fs::path store = find_store(given);
  std::error_code ignored;
  if (given && !fs::exists(store, ignored))
    throw base::ConfigError(fmt::format(
        "the store {} does not exist. Next step: correct --store; a store is made by the first run "
        "that is kept in it.",
        store.string()));
  return store;
}

fs::path runs_of(const fs::path& store) {
  return store / "runs";
}

RunDirectory draft_of(const RunDirectory& run) {
  return RunDirectory(run.path().parent_path() / (kDraftPrefix + run.id()));
}

void sweep_drafts(const fs::path& store) {
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  std::vector<fs::path> left_behind;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs_of(store), ignored)) {
    if (!entry.path().filename().string().starts_with(kDraftPrefix)) continue;
    const fs::file_time_type written = entry.last_write_time(ignored);
    if (!ignored && now - written > kLongestDraft) left_behind.push_back(entry.path());
  }
  for (const fs::path& draft : left_behind) fs::remove_all(draft, ignored);
}

std::string make_run_id(const record::RunSpec& spec) {
  std::random_device source;
  return fmt::format("{}-{}-{:04x}", utc_timestamp(), record::spec_hash(spec).substr(0, 8),
                     source() & 0xffffu);
}

RunDirectory RunDirectory::create(const fs::path& store, const record::RunSpec& spec,
                                  const std::optional<StudyPlace>& place,
                                  const std::optional<RunLaunch>& launch) {
  std::error_code error = base::make_durable_directory(runs_of(store));
  if (error) refuse_store(runs_of(store), error);
  sweep_drafts(store);
  for (int attempt = 0; attempt < 16; ++attempt) {
    const RunDirectory run(runs_of(store) / make_run_id(spec));
    const RunDirectory draft = draft_of(run);
    const bool made = fs::create_directory(draft.path(), error);
    if (error) refuse_store(draft.path(), error);
    if (!made || fs::exists(run.path(), error)) continue;  // another run took this id
    write_atomically(draft.spec_file(), base::json_text(record::to_json(spec), 2) + "\n");
    if (place) write_atomically(draft.place_file(), base::json_text(json_of(*place), 2) + "\n");
    if (launch) write_atomically(draft.launch_file(), base::json_text(json_of(*launch, place), 2) + "\n");
    if ((error = base::rename_durably(draft.path(), run.path()))) refuse_store(run.path(), error);
    return run;
  }
  refuse_store(runs_of(store), std::make_error_code(std::errc::file_exists));
}

RunDirectory RunDirectory::open(const fs::path& store, const std::string& name) {
  if (name.find('/') != std::string::npos && is_run(name)) {
    const fs::path path = fs::weakly_canonical(name);
    return RunDirectory(path.has_filename() ? path : path.parent_path());
  }
  std::vector<std::string> ids = name.empty() ? std::vector<std::string>() : ids_beginning_with(store, name);
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) ids = {name};
  if (ids.empty())
    throw base::ConfigError(
        fmt::format("there is no run '{}' in {}. `lockstep runs list` shows what there is.", name,
                    runs_of(store).string()));
  if (ids.size() > 1) refuse_several(name, std::move(ids));
  return RunDirectory(runs_of(store) / ids.front());
}

fs::path RunDirectory::rank_file(int rank) const {
  return path_ / fmt::format("rank{}.jsonl", rank);
}

bool RunDirectory::has_record() const {
  std::error_code ignored;
  return fs::exists(record_file(), ignored);
}

record::RunSpec RunDirectory::spec() const {
  const nlohmann::json json = base::try_parse_json(read_whole(spec_file()));
  if (json.is_discarded())
    throw base::StoreError(fmt::format("{} is damaged: it is not JSON.", spec_file().string()));
  return record::spec_from_json(json, spec_file().string());
}

std::optional<StudyPlace> RunDirectory::place() const {
  if (const auto place = place_of(read_json(place_file()))) return place;
  const nlohmann::json launch = read_json(launch_file());
  if (launch.is_object() && launch.contains("place")) return place_of(launch["place"]);
  // A record alone may be of another machine's run.
  std::error_code ignored;
  return fs::exists(place_file(), ignored) ? place_of(read_json(record_file())) : std::nullopt;
}

bool RunDirectory::mend_place() const {
  const std::optional<StudyPlace> known = place();
  if (!known || place_of(read_json(place_file()))) return false;
  write_atomically(place_file(), base::json_text(json_of(*known), 2) + "\n");
  return true;
}

std::optional<RunLaunch> RunDirectory::launch() const {
  const nlohmann::json json = read_json(launch_file());
  try {
    RunLaunch launch{json.at("commanded_at"), json.at("machine"), std::nullopt};
    if (json.contains("local_world")) launch.local_world = json.at("local_world").get<int>();
    return launch;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

bool RunDirectory::is_alive() const {
  if (!base::claim_file(spec_file())) return true;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("rank") && name.ends_with(".jsonl") && !base::claim_file(entry.path())) return true;
  }
  return false;
}

void RunDirectory::remove() const {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error)
    throw base::StoreError(fmt::format("run {} cannot be removed: {}.{}", id(), error.message(),
                                       store_next_step(error.value(), path_)));
}

}  // namespace lockstep::lab
