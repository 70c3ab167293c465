// Reads study files. Every complaint begins with file:line:column and ends with what was likely meant.
#pragma once

#include <filesystem>
#include <string>

#include "lockstep/lab/study.h"

namespace lockstep::lab {

// Checks all that can be told without a machine: keys, fields, values, axes, names of figures, tables and
// charts. Throws ConfigError.
Study parse_study(const std::string& text, const std::string& file_name, const StudyChoice& choice = {});

// Throws ConfigError also when the file cannot be read.
Study read_study_file(const std::filesystem::path& file, const StudyChoice& choice = {});

}  // namespace lockstep::lab
