#include "lockstep/data/search.h"

#include <fmt/core.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/data/files.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> xdg_data_directory() {
  if (const auto home = base::environment("XDG_DATA_HOME")) return fs::path(*home) / "lockstep";
  if (const auto home = base::environment("HOME")) return fs::path(*home) / ".local" / "share" / "lockstep";
  return std::nullopt;
}

// The file by which a set's directory is recognised.
std::string first_file(const record::DataEntry& set) {
  if (set.name == "cifar10") return "data_batch_1.bin";
  if (set.name == "driving") return "driving_log.csv";
  return "train-images-idx3-ubyte";
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
    places.push_back({directory, source, exists_maybe_gzip(directory / first_file(set))});
  }
  return places;
}

namespace {

// A place that the user named and that has the set's directory is where the set is meant to be read from:
// passing it over would train on other files than the ones asked for.
void require_whole(const record::DataEntry& set, const std::optional<fs::path>& data_dir) {
  if (!data_dir || !fs::is_directory(*data_dir / set.directory)) return;
  const fs::path file = *data_dir / set.directory / first_file(set);
  if (exists_maybe_gzip(file)) return;
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
  }
  throw base::DataError(fmt::format("data set '{}' was not found ({} is in none of these):{}\nTo get it: {}.",
                                    set.name, first_file(set), looked, set.how_to_get));
}

fs::path download_directory(const std::optional<fs::path>& data_dir) {
  for (const auto& [root, source] : roots(data_dir)) {
    if (source != "Debian's packages") return root;
  }
  throw base::ConfigError("there is no place to put data sets: HOME is not set. Give one with --data-dir.");
}

}  // namespace lockstep::data
