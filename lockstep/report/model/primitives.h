// dp's primitives (replicate, scatter, ...), seconds a step, where records hold them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

std::set<std::string> primitive_names(const Grid& grid);
std::optional<Number> primitive_seconds(const GridCell& cell, const std::string& name);

}  // namespace lockstep::report
