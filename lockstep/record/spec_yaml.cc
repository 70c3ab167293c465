#include "lockstep/record/spec_yaml.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

std::string place(const std::string& file_name, const YAML::Mark& mark) {
  if (mark.is_null()) return file_name + ": ";
  return fmt::format("{}:{}:{}: ", file_name, mark.line + 1, mark.column + 1);
}

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

YAML::Node parse(const std::string& text, const std::string& file_name) {
  refuse_tabs(text, file_name);
  try {
    return YAML::Load(text);
  } catch (const YAML::ParserException& error) {
    throw base::ConfigError(place(file_name, error.mark) + "this is not YAML: " + error.msg + ".");
  }
}

Json value_of(const YAML::Node& node, const std::string& where) {
  if (node.IsNull()) return nullptr;
  if (node.IsScalar()) return node.Scalar();
  if (!node.IsMap()) throw base::ConfigError(where + "a list cannot be the value of a field.");
  Json object = Json::object();
  for (const auto& pair : node) object[pair.first.Scalar()] = value_of(pair.second, where);
  return object;
}

}  // namespace

RunSpec spec_from_yaml(const std::string& text, const std::string& file_name) {
  const YAML::Node root = parse(text, file_name);
  RunSpec spec;
  if (root.IsNull()) return spec;
  if (!root.IsMap()) {
    throw base::ConfigError(place(file_name, root.Mark()) + "a spec must be lines of 'field: value'.");
  }
  std::set<std::string> seen;
  for (const auto& pair : root) {
    const std::string where = place(file_name, pair.first.Mark());
    const Field& field = field_named(pair.first.Scalar(), where);
    if (!seen.insert(field.name).second) throw base::ConfigError(where + field.name + " is given twice.");
    field.put(spec, normalise(field, value_of(pair.second, where), where));
  }
  return spec;
}

RunSpec read_spec_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) {
    throw base::ConfigError(
        fmt::format("the spec file '{}' cannot be read: {}.", file.string(), base::errno_text()));
  }
  if (file.extension() != ".json") return spec_from_yaml(text.str(), file.string());
  try {
    return spec_from_json(Json::parse(text.str()), file.string());
  } catch (const Json::parse_error& error) {
    throw base::ConfigError(fmt::format("{}: this is not JSON: {}.", file.string(), error.what()));
  }
}

}  // namespace lockstep::record
