// The records that a word on the command line stands for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/record/record.h"

namespace lockstep::cli {

// The store of a command that reads: one that is given must exist, unless files are all that is named.
std::filesystem::path store_of(const std::optional<std::filesystem::path>& given,
                               const std::vector<std::string>& names);

// Of a study in the store, of a run (its id, the beginning of one, or its directory), or of a file that
// `runs export` wrote. Throws ConfigError when it is none of them, or holds nothing.
std::vector<record::RunRecord> named_records(const std::filesystem::path& store, const std::string& name);

}  // namespace lockstep::cli
