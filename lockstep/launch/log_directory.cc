#include "lockstep/launch/log_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "lockstep/base/environment.h"

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

}  // namespace

std::filesystem::path default_store() {
  if (const auto store = base::environment("LOCKSTEP_STORE")) return *store;
  if (const auto data = base::environment("XDG_DATA_HOME")) return std::filesystem::path(*data) / "lockstep";
  if (const auto home = base::environment("HOME"))
    return std::filesystem::path(*home) / ".local" / "share" / "lockstep";
  return std::filesystem::temp_directory_path() / fmt::format("lockstep-{}", geteuid());
}

std::filesystem::path default_log_directory() {
  return default_store() / "logs" / fmt::format("{}-{}", utc_timestamp(), getpid());
}

}  // namespace lockstep::launch
