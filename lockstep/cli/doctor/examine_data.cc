// The doctor looks for every data set where it is looked for by default, and whether its files are all there.
#include <fmt/format.h>

#include <filesystem>

#include "lockstep/base/text.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/data/search.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArea = "data";

Finding examine_files(const record::DataEntry& set) {
  const std::string name(set.name);
  const std::string next_step =
      fmt::format("{}; or put its files into {} under LOCKSTEP_DATA.", set.how_to_get, set.directory);
  std::string incomplete;
  for (const data::Place& place : data::places_of(set, std::nullopt)) {
    std::error_code ignored;
    if (!fs::is_directory(place.directory, ignored)) continue;
    if (place.found) return {kArea, name, Health::ok, place.directory.string()};
    incomplete = place.directory.string() + " lacks " + base::join(place.absent, ", ");
  }
  if (!incomplete.empty()) return {kArea, name, Health::broken, incomplete, next_step};
  return {kArea, name, Health::missing, "not found", next_step};
}

Finding examine_set(const record::DataEntry& set) {
  const std::string name(set.name);
  if (set.source == record::Source::procedural)
    return {kArea, name, Health::ok, "drawn from a seed: needs no file"};
  if (set.source == record::Source::users_path)
    return {kArea, name, Health::ok, fmt::format("your own files: {}:PATH", name)};
  return examine_files(set);
}

}  // namespace

Findings examine_data() {
  Findings findings;
  for (const record::DataEntry& set : record::data_entries()) findings.push_back(examine_set(set));
  return findings;
}

}  // namespace lockstep::cli
