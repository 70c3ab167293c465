// Targets, dp's primitives, and what others published.
#include <algorithm>
#include <cmath>
#include <set>

#include "lockstep/base/text.h"
#include "lockstep/report/model/primitives.h"
#include "lockstep/report/model/targets.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

void add_targets(Table& table, const Subject& subject, const GridCell& cell,
                 const std::vector<lab::Target>& targets) {
  std::vector<TableValue> row = point_values(subject.grid, cell);
  for (const lab::Target& target : targets)
    row.insert(row.end(), {word(reached_text(cell, target)), value(epochs_until(cell, target)),
                           value(seconds_until(cell, target))});
  table.rows.push_back(std::move(row));
}

// The points at which anything was published, in the file's order.
std::vector<std::vector<lab::AxisPoint>> published_points(const lab::Study& study) {
  std::vector<std::vector<lab::AxisPoint>> points;
  for (const lab::Published& column : study.published)
    for (const lab::PublishedValue& given : column.values)
      if (std::find(points.begin(), points.end(), given.at) == points.end()) points.push_back(given.at);
  return points;
}

std::vector<std::string> published_axes(const std::vector<std::vector<lab::AxisPoint>>& points) {
  std::vector<std::string> axes;
  for (const auto& point : points)
    for (const lab::AxisPoint& at : point)
      if (std::find(axes.begin(), axes.end(), at.axis) == axes.end()) axes.push_back(at.axis);
  return axes;
}

bool lies_at(const GridCell& cell, const std::vector<lab::AxisPoint>& point) {
  return std::all_of(point.begin(), point.end(),
                     [&](const lab::AxisPoint& at) { return cell.at(at.axis) == at.value; });
}

std::vector<const GridCell*> cells_at(const Grid& grid, const std::vector<lab::AxisPoint>& point) {
  std::vector<const GridCell*> cells;
  for (const GridCell& cell : grid.cells)
    if (!cell.runs.empty() && lies_at(cell, point)) cells.push_back(&cell);
  if (cells.empty()) cells.push_back(nullptr);
  return cells;
}

std::optional<double> published_cell(const lab::Published& column, const std::vector<lab::AxisPoint>& point) {
  for (const lab::PublishedValue& given : column.values)
    if (given.at == point) return given.value;
  return std::nullopt;
}

// Why ours are not what the study asks for; empty where they are.
std::string cut_of(const lab::Study& study) {
  std::vector<std::string> reasons, fields;
  // A quick variant may leave out nothing that is published.
  if (!study.cut.empty() && !study.cut.starts_with("nothing")) reasons.push_back(study.cut);
  for (const lab::FieldSetting& set : study.choice.sets)
    if (set.field != "data_dir") fields.push_back(set.field + "=" + set.text);
  if (!fields.empty()) reasons.push_back("changed by --set: " + base::join(fields, ", "));
  return base::join(reasons, "; ");
}

std::string published_note(const Subject& subject) {
  const std::string cut = cut_of(*subject.study);
  std::set<std::string> machines;
  for (const GridCell& cell : subject.grid.cells)
    for (const record::RunRecord& run : cell.runs) machines.insert(machine_text(run));
  const std::vector<std::string> names(machines.begin(), machines.end());
  return "Published columns are theirs, measured on their machines; ours stand beside those that mean the "
         "same "
         "figure, where our runs have it, measured on " +
         base::join(names, "; ") + "." +
         (cut.empty() ? ""
                      : " Ours were cut (" + cut +
                            "), so that times and losses are not to be held against "
                            "theirs.");
}

// The published columns that mean the figure of that one; one column of ours stands behind the last of them.
std::vector<const lab::Published*> columns_like(const lab::Study& study, const lab::Published& column) {
  std::vector<const lab::Published*> columns;
  for (const lab::Published& other : study.published)
    if (!column.figure.empty() && other.figure == column.figure) columns.push_back(&other);
  return columns;
}

bool ends_with_ours(const lab::Study& study, const lab::Published& column) {
  const auto columns = columns_like(study, column);
  return !columns.empty() && columns.back() == &column;
}

// What the names of those columns have in common, without whose machine each is of: "time" of "time, T4" and
// "time, DGX".
std::string shared_name(const lab::Study& study, const lab::Published& column) {
  std::string shared = column.name;
  for (const lab::Published* other : columns_like(study, column)) {
    const auto end =
        std::mismatch(shared.begin(), shared.end(), other->name.begin(), other->name.end()).first;
    if (end != shared.end()) shared.erase(std::find(shared.begin(), end, ','), shared.end());
  }
  return base::trim(shared).empty() ? column.figure : base::trim(shared);
}

std::vector<TableColumn> published_columns(const lab::Study& study, const std::vector<std::string>& axes) {
  const std::string ours = cut_of(study).empty() ? "ours: " : "ours, cut: ";
  std::vector<TableColumn> columns;
  for (const std::string& axis : axes) columns.push_back({axis, axis_heading(axis), "", true});
  for (const lab::Published& column : study.published) {
    const bool whole = std::all_of(column.values.begin(), column.values.end(),
                                   [](const auto& given) { return given.value == std::floor(given.value); });
    columns.push_back(
        {"published:" + column.name, column.name, column.unit, whole, column.definition, column.source});
    if (!ends_with_ours(study, column)) continue;
    const std::string name = shared_name(study, column);
    columns.push_back(figure_column(column.figure, ours + name, whole));
    columns.back().key = "ours:" + name;
    columns.back().as_given = true;
  }
  columns.push_back({"cell", "our cell"});
  return columns;
}

std::vector<TableValue> published_row(const lab::Study& study, const std::vector<std::string>& axes,
                                      const std::vector<lab::AxisPoint>& point, const GridCell* cell) {
  std::vector<TableValue> row;
  for (const std::string& axis : axes) {
    const auto at =
        std::find_if(point.begin(), point.end(), [&](const auto& there) { return there.axis == axis; });
    row.push_back(word(at == point.end() ? "" : at->value));
  }
  for (const lab::Published& column : study.published) {
    row.push_back(value(published_cell(column, point)));
    if (ends_with_ours(study, column))
      row.push_back(value(cell == nullptr ? std::nullopt : figure(*cell, column.figure)));
  }
  row.push_back(word(cell == nullptr ? "not run here" : cell->label));
  return row;
}

}  // namespace

Table targets_table(const Subject& subject) {
  const std::vector<lab::Target> targets = targets_of(subject.study, subject.grid);
  Table table = cell_table("targets", "Epochs and seconds until a target", subject.grid);
  table.note = "Seconds are those of training up to the end of the epoch that reached it.";
  for (const lab::Target& target : targets) {
    const std::string text = target_text(target);
    table.columns.insert(table.columns.end(), {{target.figure + "_reached", text + ": runs that reached it"},
                                               {target.figure + "_epochs", text + ": epochs", "", true},
                                               {target.figure + "_seconds", text + ": training", "s"}});
  }
  if (!targets.empty())
    for (const GridCell& cell : subject.grid.cells)
      if (!cell.runs.empty()) add_targets(table, subject, cell, targets);
  return table;
}

Table primitives_table(const Subject& subject) {
  Table table = cell_table("primitives", "dp's primitives, a step", subject.grid);
  const std::set<std::string> names = primitive_names(subject.grid);
  for (const std::string& name : names) table.columns.push_back({name + "_seconds", name, "s"});
  for (const GridCell& cell : subject.grid.cells) {
    if (names.empty() || !primitive_seconds(cell, *names.begin())) continue;
    std::vector<TableValue> row = point_values(subject.grid, cell);
    for (const std::string& name : names) row.push_back(value(primitive_seconds(cell, name)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table published_table(const Subject& subject) {
  Table table{"published", "What others published, beside ours"};
  if (subject.study == nullptr || subject.study->published.empty()) return table;
  table.note = published_note(subject);
  const auto points = published_points(*subject.study);
  const std::vector<std::string> axes = published_axes(points);
  table.columns = published_columns(*subject.study, axes);
  for (const auto& point : points)
    for (const GridCell* cell : cells_at(subject.grid, point))
      table.rows.push_back(published_row(*subject.study, axes, point, cell));
  return table;
}

}  // namespace lockstep::report
