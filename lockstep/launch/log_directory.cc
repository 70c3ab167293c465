#include "lockstep/launch/log_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <vector>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/launch/temporary_place.h"

namespace lockstep::launch {
namespace {

std::string utc_timestamp() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc);
  return text.data();
}

// Without a home: a directory of our own among everybody's temporary files, where a name can be taken before
// us.
std::filesystem::path temporary_store() {
  const std::filesystem::path path = temporary_place() / fmt::format("lockstep-store-{}", geteuid());
  ::mkdir(path.c_str(), 0700);
  struct stat facts {};
  const bool ours = ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
                    facts.st_uid == ::geteuid() && (facts.st_mode & 0022) == 0;
  if (!ours)
    throw base::StoreError(fmt::format(
        "{} is not a directory that only you can write to. Next step: remove it, or set LOCKSTEP_STORE.",
        path.string()));
  return path;
}

// The process number in a name that default_log_directory() makes, 20261115T114100Z-1234; 0 in any other
// name.
pid_t owner_in(const std::string& name) {
  constexpr std::string_view kShape = "00000000T000000Z-";
  pid_t owner = 0;
  bool fits = name.size() > kShape.size();
  for (std::size_t i = 0; fits && i < kShape.size(); ++i)
    fits = kShape[i] == '0' ? name[i] >= '0' && name[i] <= '9' : name[i] == kShape[i];
  if (!fits) return 0;
  const auto [end, error] = std::from_chars(name.data() + kShape.size(), name.data() + name.size(), owner);
  return error == std::errc() && end == name.data() + name.size() ? owner : 0;
}

// Removes the logs and then the directory, which stays if there is anything else in it.
void remove_logs(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("rank") && name.ends_with(".log")) std::filesystem::remove(entry.path(), ignored);
  }
  std::filesystem::remove(directory, ignored);
}

}  // namespace

std::filesystem::path default_store() {
  if (const auto store = base::environment("LOCKSTEP_STORE")) return *store;
  if (const auto data = base::environment("XDG_DATA_HOME")) return std::filesystem::path(*data) / "lockstep";
  if (const auto home = base::environment("HOME"))
    return std::filesystem::path(*home) / ".local" / "share" / "lockstep";
  return temporary_store();
}

std::filesystem::path default_log_directory() {
  return default_store() / "logs" / fmt::format("{}-{}", utc_timestamp(), getpid());
}

void prune_log_directories(const std::filesystem::path& logs, std::size_t kept) {
  std::vector<std::filesystem::path> runs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(logs, ignored))
    if (owner_in(entry.path().filename().string()) > 0) runs.push_back(entry.path());
  std::sort(runs.begin(), runs.end());  // by time, which the names begin with
  for (std::size_t i = 0; i + kept < runs.size(); ++i) {
    const bool still_runs = ::kill(owner_in(runs[i].filename().string()), 0) == 0;
    if (!still_runs) remove_logs(runs[i]);
  }
}

void make_log_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error && ::access(directory.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (error)
    throw base::StoreError(fmt::format(
        "the ranks' logs cannot be kept in {}: {}. Nothing was started. Choose another directory.",
        directory.string(), error.message()));
}

}  // namespace lockstep::launch
