#include "lockstep/report/model/comparison.h"

#include <algorithm>

namespace lockstep::report {
namespace {

bool has(const GridCell& cell, std::string_view name) {
  return !cell.runs.empty() && figure(cell, name).has_value();
}

const GridCell* find_cell(const Grid& grid, const GridCell& like, const std::string& axis,
                          const std::string& value, std::string_view name) {
  for (const GridCell& cell : grid.cells)
    if (cell.at(axis) == value && equal_but(cell, like, axis) && has(cell, name)) return &cell;
  return nullptr;
}

std::size_t measured_in(const ComparedRest& rest) {
  return static_cast<std::size_t>(
      std::count_if(rest.cells.begin(), rest.cells.end(), [](const auto* cell) { return cell != nullptr; }));
}

// All sets of cells that differ on the axis alone, where the first value and another were measured.
std::vector<ComparedRest> all_rests(const Grid& grid, const AxisComparison& comparison,
                                    std::string_view name) {
  std::vector<ComparedRest> rests;
  const std::string& axis = comparison.axis->name;
  for (const GridCell& first : grid.cells) {
    if (first.at(axis) != comparison.values.front() || !has(first, name)) continue;
    ComparedRest rest{label_without(grid, first, {axis, "workers"}), {}};
    for (const std::string& value : comparison.values)
      rest.cells.push_back(find_cell(grid, first, axis, value, name));
    if (measured_in(rest) > 1) rests.push_back(std::move(rest));
  }
  return rests;
}

bool some_oversubscribed(const ComparedRest& rest) {
  return std::any_of(rest.cells.begin(), rest.cells.end(),
                     [](const GridCell* cell) { return cell != nullptr && cell->oversubscribed; });
}

int workers_of(const ComparedRest& rest) {
  return rest.cells.front()->workers;
}

int chosen_workers(const std::vector<ComparedRest>& rests, ComparedAt where) {
  int most = 0, own = 0;
  for (const ComparedRest& rest : rests) {
    most = std::max(most, workers_of(rest));
    if (!some_oversubscribed(rest)) own = std::max(own, workers_of(rest));
  }
  return where == ComparedAt::own_cores && own > 0 ? own : most;
}

void keep_one_count(const Grid& grid, AxisComparison& comparison, ComparedAt where) {
  const int workers = chosen_workers(comparison.rests, where);
  std::erase_if(comparison.rests, [&](const ComparedRest& rest) { return workers_of(rest) != workers; });
  const GridAxis* counts = grid.find_axis("workers");
  if (counts != nullptr && counts->values.size() > 1) comparison.workers = workers;
}

}  // namespace

bool equal_but(const GridCell& one, const GridCell& other, std::string_view axis) {
  return std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
    return at.axis == axis || other.at(at.axis) == at.value;
  });
}

std::optional<AxisComparison> compare_along(const Grid& grid, const GridAxis& axis, std::string_view figure,
                                            ComparedAt where) {
  AxisComparison comparison{&axis, axis.values, {}, 0, false};
  // The first value may be one that could not run: then the next stands for it.
  while (comparison.values.size() > 1) {
    comparison.rests = all_rests(grid, comparison, figure);
    if (!comparison.rests.empty()) break;
    comparison.values.erase(comparison.values.begin());
  }
  if (comparison.rests.empty()) return std::nullopt;
  if (axis.name != "workers") keep_one_count(grid, comparison, where);
  comparison.oversubscribed =
      std::any_of(comparison.rests.begin(), comparison.rests.end(), some_oversubscribed);
  return comparison;
}

}  // namespace lockstep::report
