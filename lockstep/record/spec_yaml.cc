#include "lockstep/record/spec_yaml.h"

#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/record/spec_fields.h"
#include "lockstep/record/yaml_document.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

Json value_of(const YAML::Node& node, const std::string& where) {
  if (node.IsNull()) return nullptr;
  if (node.IsScalar()) return base::text_to_bytes(node.Scalar());
  if (!node.IsMap()) throw base::ConfigError(where + "a list cannot be the value of a field.");
  Json object = Json::object();
  for (const auto& pair : node) {
    const std::string& key = pair.first.Scalar();
    if (object.contains(key)) throw base::ConfigError(where + key + " is given twice.");
    object[key] = value_of(pair.second, where);
  }
  return object;
}

// The library says "[its name for the error] parse error at line 1, column 29: what is wrong".
std::string json_complaint(const Json::exception& error, const std::string& file_name) {
  static const std::regex kPlace("parse error at line ([0-9]+), column ([0-9]+): ");
  const std::string text = error.what();
  std::smatch found;
  if (!std::regex_search(text, found, kPlace)) return file_name + ": this is not JSON.";
  return fmt::format("{}:{}:{}: this is not JSON: {}.", file_name, found[1].str(), found[2].str(),
                     found.suffix().str());
}

}  // namespace

RunSpec spec_from_yaml(const std::string& text, const std::string& file_name) {
  const YAML::Node root = parse_yaml(text, file_name);
  RunSpec spec;
  if (root.IsNull()) return spec;
  if (!root.IsMap()) {
    throw base::ConfigError(yaml_place(file_name, root.Mark()) + "a spec must be lines of 'field: value'.");
  }
  std::set<std::string> seen;
  for (const auto& pair : root) {
    const std::string where = yaml_place(file_name, pair.first.Mark());
    const Field& field = field_named(pair.first.Scalar(), where);
    if (!seen.insert(field.name).second) throw base::ConfigError(where + field.name + " is given twice.");
    field.put(spec, normalise(field, value_of(pair.second, where), where));
  }
  return spec;
}

RunSpec read_spec_file(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    throw base::ConfigError(
        fmt::format("the spec file '{}' is a directory; name a YAML or JSON file in it.", file.string()));
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) {
    throw base::ConfigError(
        fmt::format("the spec file '{}' cannot be read: {}.", file.string(), base::errno_text()));
  }
  // As `... > run.yaml` leaves it behind when the command before it failed.
  if (base::trim(text.str()).empty())
    throw base::ConfigError(fmt::format(
        "the spec file '{}' is empty. Write fields into it, as in 'model: lenet5', or leave it out.",
        file.string()));
  if (file.extension() != ".json") return spec_from_yaml(text.str(), file.string());
  try {
    const auto refuse_double = [&](const std::string& key) {
      throw base::ConfigError(fmt::format("{}: {} is given twice.", file.string(), key));
    };
    return spec_from_json(base::parse_json(text.str(), refuse_double), file.string());
  } catch (const Json::exception& error) {
    throw base::ConfigError(json_complaint(error, file.string()));
  }
}

}  // namespace lockstep::record
