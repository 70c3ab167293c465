// The figures of a record that have one value a run, by name: what intervals, comparisons and CSV columns are
// made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/record/record.h"

namespace lockstep::lab {

enum class Better { lower, higher, neither };

struct RunFigure {
  std::string_view name;  // "step_seconds"
  std::string_view unit;  // "s", "B", "B/s", "1/s", "%", "dB", ""
  Better better;
  std::string_view what;
  std::optional<double> (*of)(const record::RunRecord&);  // nothing where the record does not hold it
};

std::span<const RunFigure> run_figures();
std::vector<std::string> run_figure_names();
// Null where there is none of that name.
const RunFigure* find_run_figure(std::string_view name);

}  // namespace lockstep::lab
