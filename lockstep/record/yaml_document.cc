#include "lockstep/record/yaml_document.h"

#include <fmt/core.h>

#include <sstream>

#include "lockstep/base/error.h"

namespace lockstep::record {
namespace {

// yaml-cpp's own words for a tab name neither the tab nor the cure.
void refuse_tabs(const std::string& text, const std::string& file_name) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto indent = line.find_first_not_of(" \t");
    const auto tab = line.substr(0, std::min(indent, line.size())).find('\t');
    if (tab != std::string::npos && indent != std::string::npos) {
      throw base::ConfigError(fmt::format(
          "{}:{}:{}: a tab in the indentation; YAML allows only spaces there. Replace it by spaces.",
          file_name, number, tab + 1));
    }
  }
}

}  // namespace

std::string yaml_place(const std::string& file_name, const YAML::Mark& mark) {
  if (mark.is_null()) return file_name + ": ";
  return fmt::format("{}:{}:{}: ", file_name, mark.line + 1, mark.column + 1);
}

YAML::Node parse_yaml(const std::string& text, const std::string& file_name) {
  refuse_tabs(text, file_name);
  try {
    return YAML::Load(text);
  } catch (const YAML::ParserException& error) {
    throw base::ConfigError(yaml_place(file_name, error.mark) + "this is not YAML: " + error.msg + ".");
  }
}

}  // namespace lockstep::record
