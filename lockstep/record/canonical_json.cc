#include "lockstep/record/canonical_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

// Up to here every whole number is exact in a double.
constexpr double kExactWhole = 9007199254740992.0;

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) throw base::ConfigError("a spec holds a number that is not finite.");
  if (value == std::floor(value) && std::abs(value) <= kExactWhole) {
    out += fmt::format("{}", static_cast<std::int64_t>(value));
  } else {
    out += fmt::format("{}", value);  // shortest that reads back equal
  }
}

void append(std::string& out, const Json& value);

void append_object(std::string& out, const Json& object) {
  out += '{';
  const char* separator = "";
  for (const auto& [key, member] : object.items()) {
    out += separator + base::json_text(Json(key)) + ':';
    append(out, member);
    separator = ",";
  }
  out += '}';
}

void append_array(std::string& out, const Json& array) {
  out += '[';
  const char* separator = "";
  for (const Json& element : array) {
    out += separator;
    append(out, element);
    separator = ",";
  }
  out += ']';
}

void append(std::string& out, const Json& value) {
  if (value.is_object()) return append_object(out, value);
  if (value.is_array()) return append_array(out, value);
  if (value.is_number_float()) return append_number(out, value.get<double>());
  out += base::json_text(value);
}

}  // namespace

std::string canonical_text(const Json& value) {
  std::string out;
  append(out, value);
  return out;
}

}  // namespace lockstep::record
