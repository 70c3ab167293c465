// What tables of cells have in common: a column for each axis.
#include <algorithm>
#include <cstdlib>

#include "lockstep/base/text.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

bool is_shown(const GridAxis& axis) {
  return axis.values.size() > 1;
}

TableValue point_value(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0') return count(number);
  return word(text);
}

}  // namespace

std::string axis_heading(const std::string& axis) {
  if (axis == "batch_size") return "batch per worker";
  return base::spaced(axis);
}

std::vector<TableColumn> point_columns(const Grid& grid) {
  std::vector<TableColumn> columns;
  for (const GridAxis& axis : grid.axes)
    if (is_shown(axis)) columns.push_back({axis.name, axis_heading(axis.name), "", true});
  if (columns.empty()) columns.push_back({"cell", "run"});
  return columns;
}

std::vector<TableValue> point_values(const Grid& grid, const GridCell& cell) {
  std::vector<TableValue> values;
  for (const GridAxis& axis : grid.axes)
    if (is_shown(axis)) values.push_back(point_value(cell.at(axis.name)));
  if (values.empty()) values.push_back(word(cell.label));
  return values;
}

Table cell_table(const std::string& name, const std::string& title, const Grid& grid) {
  Table table{name, title};
  table.columns = point_columns(grid);
  return table;
}

TableColumn share_column(const std::string& key, const std::string& heading) {
  TableColumn column{key, heading};
  column.share = true;
  return column;
}

TableColumn figure_column(std::string_view figure_name, const std::string& heading, bool exact) {
  if (figure_name.ends_with("_accuracy")) return share_column(std::string(figure_name), heading);
  const lab::RunFigure* found = lab::find_run_figure(figure_name);
  return {std::string(figure_name), heading, found == nullptr ? "" : std::string(found->unit), exact};
}

}  // namespace lockstep::report
