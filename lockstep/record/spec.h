// RunSpec: everything about one training run. Its fields are listed in spec_fields.def and nowhere else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/record/spec_types.h"

namespace lockstep::record {

struct RunSpec {
#define LOCKSTEP_FIELD(group, type, name, default_value, rule, help) type name = default_value;
#include "lockstep/record/spec_fields.def"
#undef LOCKSTEP_FIELD
  bool operator==(const RunSpec&) const = default;
};

// All fields with their values, defaults too, so that a stored spec keeps its meaning; unset ones are left
// out.
nlohmann::json to_json(const RunSpec& spec);

// Fields that are not named keep their defaults. Throws ConfigError that names the field, the value, what is
// wrong and the nearest good one; `origin` ("runs/7/spec.json") leads the message.
RunSpec spec_from_json(const nlohmann::json& json, const std::string& origin);

// Sets one field from what a person typed, as flags and --set do. The name takes dashes or underscores;
// "model_options.width" sets one option. "none" unsets an optional field. Throws ConfigError.
void set_field(RunSpec& spec, std::string_view name, std::string_view text, const std::string& origin);

// The canonical form: what makes this run differ from the default one, keys sorted, numbers in one form
// (docs/record.md). Fields added by a later version do not change it.
std::string canonical_json(const RunSpec& spec);

// SHA-256 of the canonical form: the spec's identity.
std::string spec_hash(const RunSpec& spec);

}  // namespace lockstep::record
