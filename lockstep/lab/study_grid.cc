// The grid of a study file: axes, exclusions, the ladder.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/lab/study_sections.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::lab {
namespace {

std::vector<std::string> axis_names(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string> labels_of(const Axis& axis) {
  std::vector<std::string> labels;
  for (const AxisValue& value : axis.values) labels.push_back(value.label);
  return labels;
}

// An axis that is a field: a list of its values.
Axis plain_axis(const YamlValue::Pair& pair) {
  Axis axis{pair.name(), {}, pair.key.place()};
  const std::string field = axis.name.substr(0, axis.name.find('.'));
  (void)record::field_named(field, pair.key.place());
  for (const YamlValue& value : pair.value.values())
    axis.values.push_back({value.text(), {{axis.name, value.text(), value.place()}}, value.place()});
  return axis;
}

// An axis of the study's own: a label for each set of fields.
Axis named_axis(const YamlValue::Pair& pair) {
  Axis axis{pair.name(), {}, pair.key.place()};
  for (const YamlValue::Pair& value : pair.value.pairs("axis " + axis.name))
    axis.values.push_back(
        {value.name(), read_fields(value.value, "value " + value.name()), value.key.place()});
  return axis;
}

void require_distinct_values(const Axis& axis) {
  std::vector<std::string> labels = labels_of(axis);
  if (labels.empty()) throw base::ConfigError(axis.place + "axis " + axis.name + " has no values.");
  std::sort(labels.begin(), labels.end());
  const auto twice = std::adjacent_find(labels.begin(), labels.end());
  if (twice != labels.end())
    throw base::ConfigError(
        fmt::format("{}axis {} has the value '{}' twice.", axis.place, axis.name, *twice));
}

std::vector<std::string> figures_that_can_gain() {
  std::vector<std::string> names;
  for (const RunFigure& figure : run_figures())
    if (figure.better != Better::neither) names.emplace_back(figure.name);
  return names;
}

// A ladder is climbed while it pays: of its figure, more or less must be better.
std::string read_ladder_figure(const YamlValue& value) {
  std::string name = value.one_of("figure", run_figure_names());
  if (find_run_figure(name)->better != Better::neither) return name;
  const std::vector<std::string> can_gain = figures_that_can_gain();
  value.refuse(fmt::format(
      "a ladder cannot be climbed by '{}': neither more nor less of it is better.{} It can by: {}.", name,
      base::suggestion(name, can_gain), base::join(can_gain, ", ")));
}

}  // namespace

const Axis* find_axis(const std::vector<Axis>& axes, const std::string& name) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

std::vector<Axis> read_axes(const YamlValue& map) {
  std::vector<Axis> axes;
  for (const YamlValue::Pair& pair : map.pairs("axes")) {
    axes.push_back(pair.value.is_map() ? named_axis(pair) : plain_axis(pair));
    require_distinct_values(axes.back());
  }
  return axes;
}

Axis with_values(const Axis& axis, const FieldSetting& setting) {
  const std::vector<std::string> labels = labels_of(axis);
  Axis narrowed{axis.name, {}, setting.place};
  const bool plain = axis.values.front().sets.size() == 1 && axis.values.front().sets[0].field == axis.name;
  for (const std::string& part : base::split(setting.text, ',')) {
    const std::string label = base::trim(part);
    const auto known = std::find(labels.begin(), labels.end(), label);
    if (known != labels.end()) {
      narrowed.values.push_back(axis.values[static_cast<std::size_t>(known - labels.begin())]);
    } else if (plain) {
      narrowed.values.push_back({label, {{axis.name, label, setting.place}}, setting.place});
    } else {
      throw base::ConfigError(fmt::format("{}axis {} has no value '{}'.{} It has: {}.", setting.place,
                                          axis.name, label, base::suggestion(label, labels),
                                          base::join(labels, ", ")));
    }
  }
  require_distinct_values(narrowed);
  return narrowed;
}

std::vector<Exclusion> read_exclusions(const YamlValue& list, const std::vector<Axis>& axes) {
  std::vector<Exclusion> exclusions;
  std::vector<std::string> known = axis_names(axes);
  known.push_back("why");
  for (const YamlValue& entry : list.values()) {
    Exclusion exclusion;
    for (const YamlValue::Pair& pair : entry.pairs("exclude", known)) {
      const Axis* axis = find_axis(axes, pair.name());
      if (axis == nullptr) {
        exclusion.why = pair.value.text();
        continue;
      }
      const std::vector<std::string> labels = labels_of(*axis);
      for (const YamlValue& value : pair.value.values())
        exclusion.where[axis->name].push_back(value.one_of("value of axis " + axis->name, labels));
    }
    if (exclusion.where.empty()) entry.refuse("an exclusion names at least one axis.");
    exclusions.push_back(std::move(exclusion));
  }
  return exclusions;
}

Ladder read_ladder(const YamlValue& map, const std::vector<Axis>& axes) {
  static const std::vector<std::string> kKeys = {"axis", "figure", "least_gain", "always"};
  (void)map.pairs("ladder", kKeys);
  Ladder ladder;
  ladder.axis = map.at("axis", "ladder").one_of("axis", axis_names(axes));
  const Axis& axis = *find_axis(axes, ladder.axis);
  ladder.always = axis.values.front().label;
  if (const auto figure = map.find("figure")) ladder.figure = read_ladder_figure(*figure);
  if (const auto gain = map.find("least_gain")) ladder.least_gain = gain->share();
  if (const auto always = map.find("always"))
    ladder.always = always->one_of("value of axis " + axis.name, labels_of(axis));
  return ladder;
}

}  // namespace lockstep::lab
