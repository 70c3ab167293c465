// dp's primitives (replicate, scatter, ...), seconds a step, where records hold them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

// Asked by name, so that it holds for records of both kinds: those that have the field and those before it.
template <class Steps>
std::optional<std::map<std::string, double>> primitives_of(const Steps& steps) {
  if constexpr (requires { steps.primitives_seconds; })
    return steps.primitives_seconds;
  else
    return std::nullopt;
}

std::set<std::string> primitive_names(const Grid& grid);
std::optional<Number> primitive_seconds(const GridCell& cell, const std::string& name);

}  // namespace lockstep::report
