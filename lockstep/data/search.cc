#include "lockstep/data/search.h"

#include <fmt/core.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/data/files.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> xdg_data_directory() {
  if (const auto home = base::environment("XDG_DATA_HOME")) return fs::path(*home) / "lockstep";
  if (const auto home = base::environment("HOME")) return fs::path(*home) / ".local" / "share" / "lockstep";
  return std::nullopt;
}

// What lies in the set's own directory, packed or not.
std::vector<std::string> files_of(const record::DataEntry& set) {
  if (set.name == "cifar10")
    return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
            "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
  if (set.name == "driving") return {"driving_log.csv"};
  return {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
          "t10k-labels-idx1-ubyte"};
}

std::vector<std::string> absent_from(const fs::path& directory, const record::DataEntry& set) {
  std::vector<std::string> absent = files_of(set);
  std::erase_if(absent, [&](const std::string& file) { return exists_maybe_gzip(directory / file); });
  return absent;
}

std::vector<std::pair<fs::path, std::string>> roots(const std::optional<fs::path>& data_dir) {
  std::vector<std::pair<fs::path, std::string>> found;
  if (data_dir) found.emplace_back(*data_dir, "--data-dir");
  if (const auto given = base::environment("LOCKSTEP_DATA")) found.emplace_back(*given, "LOCKSTEP_DATA");
  if (const auto xdg = xdg_data_directory()) found.emplace_back(*xdg, "the XDG data directory");
  found.emplace_back("/usr/share/datasets", "Debian's packages");
  return found;
}

}  // namespace

std::vector<Place> places_of(const record::DataEntry& set, const std::optional<fs::path>& data_dir) {
  std::vector<Place> places;
  if (set.source != record::Source::files) return places;
  for (const auto& [root, source] : roots(data_dir)) {
    const fs::path directory = root / set.directory;
    const std::vector<std::string> absent = absent_from(directory, set);
    places.push_back({directory, source, absent, absent.empty()});
  }
  return places;
}

namespace {

// A place that the user named and that has the set's directory is where the set is meant to be read from:
// passing it over would train on other files than the ones asked for.
void require_whole(const record::DataEntry& set, const std::optional<fs::path>& data_dir) {
  if (!data_dir || !fs::is_directory(*data_dir / set.directory)) return;
  const std::vector<std::string> absent = absent_from(*data_dir / set.directory, set);
  if (absent.empty()) return;
  const fs::path file = *data_dir / set.directory / absent.front();
  throw base::DataError(fmt::format(
      "{} is missing, and so is {}.gz: data_dir has a directory for data set '{}', and it is not whole. To "
      "get it: {}. To read it from another place, name that one or leave --data-dir out.",
      file.string(), file.filename().string(), set.name, set.how_to_get));
}

}  // namespace

fs::path find_set(const record::DataEntry& set, const std::optional<fs::path>& data_dir) {
  require_whole(set, data_dir);
  std::string looked;
  for (const Place& place : places_of(set, data_dir)) {
    if (place.found) return place.directory;
    looked += fmt::format("\n  {} ({})", place.directory.string(), place.source);
    std::error_code ignored;
    if (fs::is_directory(place.directory, ignored)) looked += ": lacks " + base::join(place.absent, ", ");
  }
  throw base::DataError(fmt::format("data set '{}' was not found (none of these is whole):{}\nTo get it: {}.",
                                    set.name, looked, set.how_to_get));
}

fs::path download_directory(const std::optional<fs::path>& data_dir) {
  for (const auto& [root, source] : roots(data_dir)) {
    if (source != "Debian's packages") return root;
  }
  throw base::ConfigError("there is no place to put data sets: HOME is not set. Give one with --data-dir.");
}

}  // namespace lockstep::data
