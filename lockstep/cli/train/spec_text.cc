#include "lockstep/cli/train/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "lockstep/base/json.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::cli {
namespace {

// Words that YAML would not read as text, or that hold its signs, are quoted as JSON does, which YAML reads.
bool is_plain(const std::string& word) {
  const bool harmless = std::all_of(word.begin(), word.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.' || letter == '/';
  });
  return harmless && !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
         word != "null" && word != "none";
}

std::string yaml_value(const nlohmann::json& value) {
  if (value.is_string() && is_plain(value.get<std::string>())) return value.get<std::string>();
  return base::json_text(value);
}

}  // namespace

std::string yaml_of(const record::RunSpec& spec) {
  std::string text;
  std::optional<record::FieldGroup> group;
  for (const record::Field& field : record::spec_fields()) {
    const nlohmann::json value = field.get(spec);
    if (value.is_null()) continue;
    if (group != field.group) text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", name_of(field.group));
    group = field.group;
    text += fmt::format("{}: {}\n", field.name, yaml_value(value));
  }
  return text;
}

}  // namespace lockstep::cli
