#include "lockstep/record/yaml_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"

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

// Bytes that are no text would come back in a complaint, and nobody could read it.
void refuse_binary(const std::string& text, const std::string& file_name) {
  const std::optional<std::size_t> at = base::first_unprintable(text);
  if (!at) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*at), '\n');
  throw base::ConfigError(fmt::format("{}:{}: the byte 0x{:02x} is no text; this file is to be YAML.",
                                      file_name, line, static_cast<unsigned char>(text[*at])));
}

// What stands after a line of --- is another document, which nobody would read.
YAML::Node only_document(const std::vector<YAML::Node>& documents, const std::string& file_name) {
  for (std::size_t i = 1; i < documents.size(); ++i)
    if (!documents[i].IsNull())
      throw base::ConfigError(yaml_place(file_name, documents[i].Mark()) +
                              "a second document begins here, after ---, and only one is read. Remove the "
                              "--- before it, or put it into a file of its own.");
  return documents.empty() ? YAML::Node() : documents.front();
}

}  // namespace

std::string yaml_place(const std::string& file_name, const YAML::Mark& mark) {
  if (mark.is_null()) return file_name + ": ";
  return fmt::format("{}:{}:{}: ", file_name, mark.line + 1, mark.column + 1);
}

YAML::Node parse_yaml(const std::string& text, const std::string& file_name) {
  refuse_binary(text, file_name);
  refuse_tabs(text, file_name);
  try {
    return only_document(YAML::LoadAll(text), file_name);
  } catch (const YAML::ParserException& error) {
    throw base::ConfigError(yaml_place(file_name, error.mark) + "this is not YAML: " + error.msg + ".");
  }
}

}  // namespace lockstep::record
