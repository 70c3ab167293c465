// The records that a word on the command line stands for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/record/record.h"

namespace lockstep::cli {

// Of a study in the store, of a run (its id, the beginning of one, or its directory), or of a file that
// `runs export` wrote. Throws ConfigError when it is none of them, or holds nothing.
std::vector<record::RunRecord> named_records(const std::filesystem::path& store, const std::string& name);

}  // namespace lockstep::cli
