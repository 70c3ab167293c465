// The definition of where the source tree's studies lie comes from CMakeLists.txt.
#include "lockstep/cli/study/study_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/study_parse.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

fs::path studies_directory() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path().parent_path() / "share" / "lockstep" / "studies";
  return fs::is_directory(installed, ignored) ? installed : fs::path(LOCKSTEP_SOURCE_STUDIES);
}

bool is_study_file(const fs::path& file) {
  return file.extension() == ".yaml" || file.extension() == ".yml";
}

}  // namespace

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(studies_directory(), ignored))
    if (is_study_file(entry.path())) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_study(const std::string& name) {
  std::error_code ignored;
  const bool is_path = name.find('/') != std::string::npos || is_study_file(name);
  if (is_path && fs::exists(name, ignored)) return name;
  if (is_path) throw base::ConfigError(fmt::format("there is no study file '{}'.", name));
  const fs::path file = studies_directory() / (name + ".yaml");
  if (fs::exists(file, ignored)) return file;
  const std::vector<std::string> names = builtin_names();
  throw base::ConfigError(
      fmt::format("there is no study '{}'.{} There are: {}; or name a file, as in ./{}.yaml.", name,
                  base::suggestion(name, names), base::join(names, ", "), name));
}

lab::Study load_study(const std::string& name, const lab::StudyChoice& choice) {
  return lab::read_study_file(find_study(name), choice);
}

}  // namespace lockstep::cli
