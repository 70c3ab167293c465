// The table of a RunSpec's fields: what JSON, YAML, flags, --set, help and completion are generated from.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/record/spec.h"
#include "lockstep/record/spec_rule.h"

namespace lockstep::record {

enum class FieldKind { text, integer, number, flag, bytes, seconds, share, options };

// The headings under which help shows fields.
enum class FieldGroup {
  what,
  how,
  batch,
  optimisation,
  limits,
  model_and_input,
  strategy_options,
  loading,
  output
};
std::string_view name_of(FieldGroup group);

struct Field {
  std::string name;  // as in JSON and YAML: "batch_size"
  FieldKind kind;
  bool optional;  // may be unset
  FieldGroup group;
  Rule rule;
  std::string help;
  nlohmann::json default_value;  // null: unset

  // The value as JSON, null when unset; and back, from a value that normalise() returned.
  nlohmann::json (*get)(const RunSpec&);
  void (*put)(RunSpec&, const nlohmann::json&);

  std::string flag() const;  // "--batch-size"
  // "SIZE", "N", "TEXT": what help shows after the flag; empty for a switch.
  std::string_view placeholder() const;
};

// In the order in which help shows them.
std::span<const Field> spec_fields();
std::vector<std::string> spec_field_names();

// The field of that name, with dashes or underscores. Throws ConfigError with a suggestion.
const Field& field_named(std::string_view name, const std::string& origin);

// The value in the one form that the field's kind has: "25MiB" becomes 26214400, "on" true, "10m" 600.
// Throws ConfigError that names the field, the value, and what would do.
nlohmann::json normalise(const Field& field, const nlohmann::json& value, const std::string& origin);

// One line of help: "--batch-size N   samples per worker ... (at least 1; default 32)".
std::string help_text(const Field& field);

}  // namespace lockstep::record
