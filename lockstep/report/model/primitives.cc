#include "lockstep/report/model/primitives.h"

namespace lockstep::report {

std::set<std::string> primitive_names(const Grid& grid) {
  std::set<std::string> names;
  for (const GridCell& cell : grid.cells)
    for (const record::RunRecord& run : cell.runs)
      if (run.steps.primitives_seconds)
        for (const auto& [name, seconds] : *run.steps.primitives_seconds) names.insert(name);
  return names;
}

std::optional<Number> primitive_seconds(const GridCell& cell, const std::string& name) {
  std::vector<double> values;
  for (const record::RunRecord& run : cell.runs) {
    const auto& primitives = run.steps.primitives_seconds;
    if (primitives && primitives->contains(name)) values.push_back(primitives->at(name));
  }
  return estimate(values);
}

}  // namespace lockstep::report
