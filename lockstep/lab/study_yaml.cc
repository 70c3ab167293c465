#include "lockstep/lab/study_yaml.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::lab {

void YamlValue::refuse(const std::string& complaint) const {
  throw base::ConfigError(place() + complaint);
}

std::string YamlValue::text() const {
  if (node_.IsNull()) return "none";
  if (!node_.IsScalar()) refuse("one value is expected here, not a list or a map.");
  return node_.Scalar();
}

double YamlValue::number() const {
  try {
    return node_.as<double>();
  } catch (const YAML::Exception&) {
    refuse(fmt::format("'{}' is not a number.", text()));
  }
}

int YamlValue::whole_number(int least) const {
  const double value = number();
  if (value != std::floor(value)) refuse(fmt::format("'{}' is not a whole number.", text()));
  if (value > std::numeric_limits<int>::max()) refuse(fmt::format("{} is too large.", text()));
  if (value < least) refuse(fmt::format("{} is too small: at least {} is needed.", text(), least));
  return static_cast<int>(value);
}

double YamlValue::share() const {
  std::string typed = text();
  const bool percent = typed.ends_with('%');
  if (percent) typed.pop_back();
  const YamlValue bare(YAML::Node(base::trim(typed)), file_);
  double value = 0;
  try {
    value = bare.node_.as<double>() / (percent ? 100 : 1);
  } catch (const YAML::Exception&) {
    refuse(fmt::format("'{}' is not a share, such as 5%.", text()));
  }
  if (value <= 0 || value > 1) refuse(fmt::format("'{}' is not between 0 and 100 %.", text()));
  return value;
}

bool YamlValue::truth() const {
  try {
    return node_.as<bool>();
  } catch (const YAML::Exception&) {
    refuse(fmt::format("'{}' is neither true nor false.", text()));
  }
}

base::Nanoseconds YamlValue::duration() const {
  try {
    const base::Nanoseconds value = base::parse_duration(text());
    if (value <= base::Nanoseconds(0)) refuse("a time above 0 is needed, as in 30m.");
    return value;
  } catch (const base::UsageError& error) {
    refuse(error.what());
  }
}

std::string YamlValue::one_of(const std::string& kind, std::span<const std::string> known) const {
  const std::string word = text();
  if (std::find(known.begin(), known.end(), word) == known.end())
    refuse(fmt::format("there is no {} '{}'.{} There are: {}.", kind, word, base::suggestion(word, known),
                       base::join(known, ", ")));
  return word;
}

std::vector<YamlValue> YamlValue::values() const {
  if (!node_.IsSequence()) return {*this};
  std::vector<YamlValue> values;
  for (const YAML::Node& node : node_) values.emplace_back(node, file_);
  return values;
}

std::vector<YamlValue::Pair> YamlValue::pairs(const std::string& what) const {
  if (!node_.IsMap()) refuse(what + " must be lines of 'key: value'.");
  std::vector<Pair> pairs;
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    pairs.push_back({YamlValue(entry.first, file_), YamlValue(entry.second, file_)});
    const Pair& pair = pairs.back();
    if (!seen.insert(pair.name()).second) pair.key.refuse(pair.name() + " is given twice.");
  }
  return pairs;
}

std::vector<YamlValue::Pair> YamlValue::pairs(const std::string& what,
                                              std::span<const std::string> known) const {
  std::vector<Pair> all = pairs(what);
  for (const Pair& pair : all) (void)pair.key.one_of("key of " + what, known);
  return all;
}

std::optional<YamlValue> YamlValue::find(const std::string& key) const {
  if (!node_.IsMap()) return std::nullopt;
  for (const auto& entry : node_)
    if (entry.first.IsScalar() && entry.first.Scalar() == key) return YamlValue(entry.second, file_);
  return std::nullopt;
}

YamlValue YamlValue::at(const std::string& key, const std::string& what) const {
  if (auto value = find(key)) return *value;
  refuse(fmt::format("{} needs '{}'.", what, key));
}

std::vector<FieldSetting> read_fields(const YamlValue& map, const std::string& what) {
  std::vector<FieldSetting> settings;
  for (const YamlValue::Pair& pair : map.pairs(what)) {
    const std::string name = pair.name();
    (void)record::field_named(name.substr(0, name.find('.')), pair.key.place());
    if (!pair.value.is_map()) {
      settings.push_back({name, pair.value.text(), pair.value.place()});
      continue;
    }
    for (const YamlValue::Pair& option : pair.value.pairs(name))
      settings.push_back({name + "." + option.name(), option.value.text(), option.value.place()});
  }
  return settings;
}

std::vector<AxisPoint> read_point(const YamlValue& map, const std::string& what) {
  std::vector<AxisPoint> point;
  for (const YamlValue::Pair& pair : map.pairs(what)) point.push_back({pair.name(), pair.value.text()});
  return point;
}

}  // namespace lockstep::lab
