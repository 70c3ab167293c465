// A map of a study file: its keys are known or refused with a suggestion, its values are read with their
// place leading every complaint.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/lab/study.h"
#include "lockstep/record/yaml_document.h"

namespace lockstep::lab {

// One value and where it stands.
class YamlValue {
 public:
  YamlValue(YAML::Node node, std::string file_name) : node_(std::move(node)), file_(std::move(file_name)) {}

  std::string place() const { return record::yaml_place(file_, node_.Mark()); }
  [[noreturn]] void refuse(const std::string& complaint) const;

  bool is_scalar() const { return node_.IsScalar(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_map() const { return node_.IsMap(); }

  std::string text() const;  // a null is "none"
  int whole_number(int least) const;
  double number() const;
  double share() const;  // "5%" or 0.05
  bool truth() const;
  base::Nanoseconds duration() const;
  // One of the known words; `kind` is for the complaint.
  std::string one_of(const std::string& kind, std::span<const std::string> known) const;

  // A list's values; a single value counts as a list of one.
  std::vector<YamlValue> values() const;
  // A map's pairs in the file's order. Throws for anything else and for a key given twice.
  struct Pair;
  std::vector<Pair> pairs(const std::string& what) const;
  // The same, with keys that must be among the known ones.
  std::vector<Pair> pairs(const std::string& what, std::span<const std::string> known) const;
  // One of a map's values; nothing where it is not given.
  std::optional<YamlValue> find(const std::string& key) const;
  // Throws where it is not given.
  YamlValue at(const std::string& key, const std::string& what) const;

 private:
  YAML::Node node_;
  std::string file_;
};

struct YamlValue::Pair {
  YamlValue key;
  YamlValue value;
  std::string name() const { return key.text(); }
};

// What a map says about fields of a spec; model_options may be a map of its own.
std::vector<FieldSetting> read_fields(const YamlValue& map, const std::string& what);

// "axis: value" pairs.
std::vector<AxisPoint> read_point(const YamlValue& map, const std::string& what);

}  // namespace lockstep::lab
