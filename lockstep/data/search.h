// Where data sets are looked for, in this order: --data-dir, LOCKSTEP_DATA, the XDG data directory's
// lockstep, and where Debian's packages put them. The first place that has all of the set's files wins.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/record/catalogue_data.h"

namespace lockstep::data {

struct Place {
  std::filesystem::path directory;  // the set's own directory there
  std::string source;  // "--data-dir", "LOCKSTEP_DATA", "the XDG data directory", "Debian's packages"
  std::vector<std::string> absent;  // files of the set that do not lie there, packed or not
  bool found = false;               // all of them do
};

std::vector<Place> places_of(const record::DataEntry& set,
                             const std::optional<std::filesystem::path>& data_dir);

// The set's directory. Throws DataError that lists every place and says how to get the set, or names the
// files that are missing where `data_dir` has the set's directory and not the set.
std::filesystem::path find_set(const record::DataEntry& set,
                               const std::optional<std::filesystem::path>& data_dir);

// Where `data get` puts sets: --data-dir, LOCKSTEP_DATA or the XDG data directory.
std::filesystem::path download_directory(const std::optional<std::filesystem::path>& data_dir);

}  // namespace lockstep::data
