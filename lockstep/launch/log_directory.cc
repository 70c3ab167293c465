#include "lockstep/launch/log_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"

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
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("lockstep-store-{}", geteuid());
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

}  // namespace lockstep::launch
