// The doctor looks for data sets where they are looked for by default.
#include <filesystem>

#include "lockstep/base/environment.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/doctor/finding.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> data_directories() {
  std::vector<fs::path> directories;
  if (const auto chosen = base::environment("LOCKSTEP_DATA")) directories.emplace_back(*chosen);
  if (const auto data_home = base::environment("XDG_DATA_HOME"))
    directories.push_back(fs::path(*data_home) / "lockstep");
  else if (const auto home = base::environment("HOME"))
    directories.push_back(fs::path(*home) / ".local/share/lockstep");
  directories.emplace_back("/usr/share/datasets");  // Debian's packages
  return directories;
}

Finding examine_set(const std::string& name, const std::vector<std::string>& files,
                    const std::string& next_step) {
  std::string incomplete;
  for (const fs::path& directory : data_directories()) {
    const fs::path place = directory / name;
    std::error_code ignored;
    if (!fs::is_directory(place, ignored)) continue;
    std::vector<std::string> absent;
    for (const std::string& file : files)
      if (!fs::exists(place / file, ignored) && !fs::exists(place / (file + ".gz"), ignored))
        absent.push_back(file);
    if (absent.empty()) return {"data", name, Health::ok, place.string()};
    incomplete = place.string() + " lacks " + base::join(absent, ", ");
  }
  if (!incomplete.empty()) return {"data", name, Health::broken, incomplete, next_step};
  return {"data", name, Health::missing, "not found", next_step};
}

}  // namespace

Findings examine_data() {
  const std::vector<std::string> idx = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
  return {
      examine_set("fashion-mnist", idx,
                  "Install Debian's package dataset-fashion-mnist, or put the files under LOCKSTEP_DATA."),
      examine_set("mnist", idx,
                  "lockstep data get mnist, or put the four IDX files into mnist under LOCKSTEP_DATA."),
      examine_set("cifar-10-batches-bin", {"data_batch_1.bin", "data_batch_5.bin", "test_batch.bin"},
                  "lockstep data get cifar10, or unpack the binary version of CIFAR-10 under LOCKSTEP_DATA."),
  };
}

}  // namespace lockstep::cli
