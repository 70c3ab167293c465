// Reading a RunSpec from YAML: a flat map of fields. Every complaint begins with file:line:column.
#pragma once

#include <filesystem>
#include <string>

#include "lockstep/record/spec.h"

namespace lockstep::record {

RunSpec spec_from_yaml(const std::string& text, const std::string& file_name);
// Throws ConfigError also when the file cannot be read. A file that ends in .json is read as JSON.
RunSpec read_spec_file(const std::filesystem::path& file);

}  // namespace lockstep::record
