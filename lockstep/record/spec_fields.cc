#include "lockstep/record/spec_fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/record/catalogue.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_strategies.h"

namespace lockstep::record {
namespace {

using Json = nlohmann::json;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
constexpr FieldKind kind_of() {
  if constexpr (std::is_same_v<T, std::string>) return FieldKind::text;
  if constexpr (std::is_same_v<T, std::int64_t>) return FieldKind::integer;
  if constexpr (std::is_same_v<T, double>) return FieldKind::number;
  if constexpr (std::is_same_v<T, bool>) return FieldKind::flag;
  if constexpr (std::is_same_v<T, Bytes>) return FieldKind::bytes;
  if constexpr (std::is_same_v<T, Seconds>) return FieldKind::seconds;
  if constexpr (std::is_same_v<T, Share>) return FieldKind::share;
  if constexpr (std::is_same_v<T, Options>) return FieldKind::options;
  if constexpr (is_optional<T>) return kind_of<typename T::value_type>();
}

template <class T>
inline constexpr bool is_quantity =
    std::is_same_v<T, Bytes> || std::is_same_v<T, Seconds> || std::is_same_v<T, Share>;

template <class T>
Json encode(const T& value) {
  if constexpr (is_optional<T>)
    return value ? encode(*value) : Json();
  else if constexpr (is_quantity<T>)
    return value.count;
  else
    return Json(value);
}

template <class T>
T decode(const Json& value) {
  if constexpr (is_optional<T>) {
    return value.is_null() ? T() : T(decode<typename T::value_type>(value));
  } else if constexpr (is_quantity<T>) {
    return T{value.get<decltype(T::count)>()};
  } else {
    return value.get<T>();
  }
}

template <auto Member>
Field make_field(const char* name, FieldGroup group, Rule rule, const char* help) {
  using Type = std::remove_cvref_t<decltype(RunSpec().*Member)>;
  return {name,
          kind_of<Type>(),
          is_optional<Type>,
          group,
          std::move(rule),
          help,
          encode(RunSpec().*Member),
          [](const RunSpec& spec) { return encode(spec.*Member); },
          [](RunSpec& spec, const Json& value) { spec.*Member = decode<Type>(value); }};
}

std::vector<Field> make_fields() {
  return {
#define LOCKSTEP_FIELD(group, type, name, default_value, rule, help) \
  make_field<&RunSpec::name>(#name, FieldGroup::group, rule, help),
#include "lockstep/record/spec_fields.def"
#undef LOCKSTEP_FIELD
  };
}

std::string with(std::string_view text, char from, char to) {
  std::string result(text);
  std::replace(result.begin(), result.end(), from, to);
  return result;
}

std::string shown(const Json& value) {
  return base::value_text(value);
}

}  // namespace

std::string_view name_of(FieldGroup group) {
  switch (group) {
    case FieldGroup::what:
      return "What is trained";
    case FieldGroup::how:
      return "On how many workers, and how they talk";
    case FieldGroup::batch:
      return "Batches";
    case FieldGroup::optimisation:
      return "Optimisation";
    case FieldGroup::limits:
      return "When to stop, and validation";
    case FieldGroup::model_and_input:
      return "Model and input";
    case FieldGroup::strategy_options:
      return "Options of the strategy";
    case FieldGroup::loading:
      return "Loading data";
    case FieldGroup::output:
      return "Measuring and output";
  }
  return "";
}

std::span<const Field> spec_fields() {
  static const std::vector<Field> kFields = make_fields();
  return kFields;
}

std::vector<std::string> spec_field_names() {
  return names_of(spec_fields());
}

const Field& field_named(std::string_view name, const std::string& origin) {
  const std::string key = with(name, '-', '_');
  if (const Field* field = find_entry(spec_fields(), key)) return *field;
  throw base::ConfigError(
      fmt::format("{}there is no field '{}' in a run's spec.{} `lockstep train --help` lists them.", origin,
                  name, base::suggestion(key, spec_field_names())));
}

std::string Field::flag() const {
  return "--" + with(name, '_', '-');
}

std::string_view Field::placeholder() const {
  switch (kind) {
    case FieldKind::text:
      return "TEXT";
    case FieldKind::integer:
      return "N";
    case FieldKind::number:
      return "X";
    case FieldKind::bytes:
      return "SIZE";
    case FieldKind::seconds:
      return "TIME";
    case FieldKind::share:
      return "P%";
    case FieldKind::options:
      return "NAME=X,...";
    case FieldKind::flag:
      break;
  }
  return "";
}

std::string help_text(const Field& field) {
  std::string notes = field.rule.requirement();
  if (!field.default_value.is_null() && field.kind != FieldKind::options) {
    notes += (notes.empty() ? "default " : "; default ") + shown(field.default_value);
  }
  return fmt::format("{}{}", field.help, notes.empty() ? "" : " (" + notes + ")");
}

}  // namespace lockstep::record
