#include "lockstep/record/spec.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/record/canonical_json.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

void set_option(RunSpec& spec, const Field& field, const std::string& option, std::string_view text,
                const std::string& origin) {
  if (field.kind != FieldKind::options) {
    throw base::ConfigError(
        fmt::format("{}{} has no parts, so {}.{} cannot be set.", origin, field.name, field.name, option));
  }
  Json options = field.get(spec);
  options[option] = std::string(text);
  field.put(spec, normalise(field, options, origin));
}

}  // namespace

Json to_json(const RunSpec& spec) {
  Json json = Json::object();
  for (const Field& field : spec_fields()) {
    Json value = field.get(spec);
    if (!value.is_null()) json[field.name] = std::move(value);
  }
  return json;
}

RunSpec spec_from_json(const Json& json, const std::string& origin) {
  const std::string prefix = origin.empty() ? "" : origin + ": ";
  if (!json.is_object())
    throw base::ConfigError(prefix + "a spec must be a JSON object of fields and values.");
  RunSpec spec;
  for (const auto& [name, value] : json.items()) {
    const Field& field = field_named(name, prefix);
    field.put(spec, normalise(field, value, prefix));
  }
  return spec;
}

void set_field(RunSpec& spec, std::string_view name, std::string_view text, const std::string& origin) {
  const auto dot = name.find('.');
  const Field& field = field_named(name.substr(0, dot), origin);
  if (dot != std::string_view::npos) {
    set_option(spec, field, std::string(name.substr(dot + 1)), text, origin);
  } else {
    field.put(spec, normalise(field, std::string(text), origin));
  }
}

std::string canonical_json(const RunSpec& spec) {
  Json json = Json::object();
  for (const Field& field : spec_fields()) {
    Json value = field.get(spec);
    if (field.rule.identity() && value != field.default_value) json[field.name] = std::move(value);
  }
  return canonical_text(json);
}

std::string spec_hash(const RunSpec& spec) {
  return base::sha256_hex(canonical_json(spec));
}

}  // namespace lockstep::record
