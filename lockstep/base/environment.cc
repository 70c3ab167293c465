#include "lockstep/base/environment.h"

#include <charconv>
#include <cstdlib>

#include "lockstep/base/error.h"

namespace lockstep::base {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<long> environment_integer(const std::string& name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  long value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || rest != end)
    throw ConfigError("the environment variable " + name + " is '" + *text +
                      "', which is not a whole number");
  return value;
}

std::filesystem::path plugin_directory() {
  if (const auto directory = environment("LOCKSTEP_PLUGIN_DIR")) return *directory;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib" / "lockstep";
}

}  // namespace lockstep::base
