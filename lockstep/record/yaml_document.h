// YAML text as a document whose complaints begin with file:line:column; specs and studies are read through
// it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace lockstep::record {

// "file.yaml:3:5: ", or "file.yaml: " where the place is not known.
std::string yaml_place(const std::string& file_name, const YAML::Mark& mark);

// Throws ConfigError: a tab in the indentation, or text that is not YAML.
YAML::Node parse_yaml(const std::string& text, const std::string& file_name);

}  // namespace lockstep::record
