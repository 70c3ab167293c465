// Bringing what a person, a YAML file or a JSON file gave into the one form that a field's kind has.
#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

// Thrown inside this file; normalise() adds the field, the value and the origin.
struct BadValue {
  std::string complaint;
};

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ptr != text.data() + text.size()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range)
    throw BadValue{"it is out of range: numbers go from about 1e-308 to 1e308, and 0."};
  return result.ec == std::errc() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Json number_from(const Json& value) {
  if (value.is_number()) {
    if (!std::isfinite(value.get<double>())) throw BadValue{"it must be a finite number."};
    return value.get<double>();
  }
  if (value.is_string()) {
    if (const auto number = parse_number(value.get<std::string>())) return *number;
  }
  throw BadValue{"it must be a number."};
}

// Whole numbers may be written as 1e6 or 32.0; 2.5 is refused with its neighbour.
Json integer_from(const Json& value) {
  if (value.is_number_integer()) return value;
  double number = 0;
  try {
    number = number_from(value);
  } catch (const BadValue&) {
    throw BadValue{"it must be a whole number."};
  }
  if (std::abs(number) > 9e15) throw BadValue{"it is too large."};
  if (number != std::floor(number)) {
    throw BadValue{fmt::format("it must be a whole number; the nearest is {}.", std::llround(number))};
  }
  return static_cast<std::int64_t>(number);
}

Json flag_from(const Json& value) {
  if (value.is_boolean()) return value;
  const std::string text = base::value_text(value);
  for (const char* yes : {"true", "on", "yes", "1"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"false", "off", "no", "0"}) {
    if (text == no) return false;
  }
  throw BadValue{"it must be true or false."};
}

template <class Parse>
Json parsed_by(Parse parse, const Json& value, const char* must) {
  try {
    return parse(value.get<std::string>());
  } catch (const base::UsageError&) {
    throw BadValue{must};
  }
}

Json bytes_from(const Json& value) {
  constexpr auto kMust = "it must be a size, as in 512MiB.";
  if (value.is_string())
    return parsed_by([](const std::string& text) { return base::parse_bytes(text); }, value, kMust);
  if (!value.is_number() || value.get<double>() < 0) throw BadValue{kMust};
  return static_cast<std::uint64_t>(integer_from(value).get<std::int64_t>());
}

Json seconds_from(const Json& value) {
  constexpr auto kMust = "it must be a time, as in 90s, 10m or 2h.";
  if (value.is_number()) return number_from(value);
  if (!value.is_string()) throw BadValue{kMust};
  return parsed_by([](const std::string& text) { return base::to_seconds(base::parse_duration(text)); },
                   value, kMust);
}

Json share_from(const Json& value) {
  constexpr auto kMust = "it must be a share, as in 12.5%.";
  if (value.is_number()) return number_from(value);
  if (!value.is_string()) throw BadValue{kMust};
  std::string text = value.get<std::string>();
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  const std::optional<double> number = parse_number(base::trim(text));
  if (!number) throw BadValue{kMust};
  return percent ? *number / 100 : *number;
}

Json option_pairs(const std::string& text) {
  Json options = Json::object();
  for (const std::string& pair : base::split(text, ',')) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) throw BadValue{fmt::format("'{}' is not NAME=NUMBER.", pair)};
    options[base::trim(pair.substr(0, equals))] = base::trim(pair.substr(equals + 1));
  }
  return options;
}

Json options_from(const Json& value) {
  if (value.is_null()) return Json::object();
  if (value.is_string()) return options_from(option_pairs(value.get<std::string>()));
  if (!value.is_object()) throw BadValue{"it must be NAME=NUMBER,... or a map of names to numbers."};
  Json options = Json::object();
  for (const auto& [name, number] : value.items()) {
    try {
      options[name] = number_from(number);
    } catch (const BadValue& bad) {
      throw BadValue{fmt::format("of '{}': {}", name, bad.complaint)};
    }
  }
  return options;
}

Json text_from(const Json& value) {
  if (!value.is_string() || value.get<std::string>().empty()) throw BadValue{"it must be a word or a text."};
  return value;
}

Json convert(const Field& field, const Json& value) {
  switch (field.kind) {
    case FieldKind::text:
      return text_from(value);
    case FieldKind::integer:
      return integer_from(value);
    case FieldKind::number:
      return number_from(value);
    case FieldKind::flag:
      return flag_from(value);
    case FieldKind::bytes:
      return bytes_from(value);
    case FieldKind::seconds:
      return seconds_from(value);
    case FieldKind::share:
      return share_from(value);
    case FieldKind::options:
      return options_from(value);
  }
  return value;
}

bool means_unset(const Field& field, const Json& value) {
  return field.optional && (value.is_null() || value == Json("none"));
}

}  // namespace

nlohmann::json normalise(const Field& field, const Json& value, const std::string& origin) {
  if (means_unset(field, value)) return nullptr;
  try {
    Json normal = convert(field, value);
    if (const auto complaint = field.rule.complaint(normal)) throw BadValue{*complaint};
    return normal;
  } catch (const BadValue& bad) {
    const std::string text = base::value_text(value);
    throw base::ConfigError(fmt::format("{}{} is '{}': {}", origin, field.name, text, bad.complaint));
  }
}

}  // namespace lockstep::record
