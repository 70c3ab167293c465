// Where study files are: one that is named by its path, or a built-in one by its name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/lab/study.h"

namespace lockstep::cli {

// The built-in studies' names, sorted: installed beside this program, or in the tree it was built from.
std::vector<std::string> builtin_names();

// The file of a path or a built-in name. Throws ConfigError with a suggestion.
std::filesystem::path find_study(const std::string& name);

// Reads it. Throws ConfigError with file, line and suggestion.
lab::Study load_study(const std::string& name, const lab::StudyChoice& choice);

}  // namespace lockstep::cli
