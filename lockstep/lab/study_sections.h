// The sections of a study file, each read by a function of its own; study_parse.cc puts them together.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/study_yaml.h"

namespace lockstep::lab {

// The grid.
std::vector<Axis> read_axes(const YamlValue& map);
// Against the study's axes.
std::vector<Exclusion> read_exclusions(const YamlValue& list, const std::vector<Axis>& axes);
Ladder read_ladder(const YamlValue& map, const std::vector<Axis>& axes);

// How long and how often.
Repeats read_repeats(const YamlValue& value);
IntervalGoal read_interval(const YamlValue& value);
std::vector<Target> read_targets(const YamlValue& map);

// What others published.
std::vector<Published> read_published(const YamlValue& list);
std::vector<Claim> read_claims(const YamlValue& list, const std::vector<Published>& published);

// The axis of that name, or null.
const Axis* find_axis(const std::vector<Axis>& axes, const std::string& name);
// "--set axis=a,b": what stands for an axis's values. Throws ConfigError.
Axis with_values(const Axis& axis, const FieldSetting& setting);

}  // namespace lockstep::lab
