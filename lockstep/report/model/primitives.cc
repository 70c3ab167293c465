#include "lockstep/report/model/primitives.h"

namespace lockstep::report {

std::set<std::string> primitive_names(const Grid& grid) {
  std::set<std::string> names;
  for (const GridCell& cell : grid.cells)
    for (const record::RunRecord& run : cell.runs)
      if (const auto primitives = primitives_of(run.steps))
        for (const auto& [name, seconds] : *primitives) names.insert(name);
  return names;
}

std::optional<Number> primitive_seconds(const GridCell& cell, const std::string& name) {
  std::vector<double> values;
  for (const record::RunRecord& run : cell.runs) {
    const auto primitives = primitives_of(run.steps);
    if (primitives && primitives->contains(name)) values.push_back(primitives->at(name));
  }
  return estimate(values);
}

}  // namespace lockstep::report
