// The tables by the names that study files use (lab/study_views.h). Each takes what it needs from the grid
// and leaves out what no record knows.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/report/model/grid.h"
#include "lockstep/report/model/table.h"

namespace lockstep::report {

// What tables and charts are made from; `study` may be null.
struct Subject {
  const Grid& grid;
  const lab::Study* study = nullptr;
};

std::vector<std::string> table_names();
// Nothing where the records know nothing of it. Throws ConfigError for an unknown name, with a suggestion.
std::optional<Table> make_table(const std::string& name, const Subject& subject);

// Their makers, one for each name.
Table summary_table(const Subject& subject);
Table scaling_table(const Subject& subject);
Table throughput_table(const Subject& subject);
Table split_table(const Subject& subject);
Table bytes_table(const Subject& subject);
Table messages_table(const Subject& subject);
Table exposure_table(const Subject& subject);
Table bandwidth_table(const Subject& subject);
Table quality_table(const Subject& subject);
Table averaging_table(const Subject& subject);
Table targets_table(const Subject& subject);
Table memory_table(const Subject& subject);
Table minutes_table(const Subject& subject);
Table axes_table(const Subject& subject);
Table primitives_table(const Subject& subject);
Table published_table(const Subject& subject);
Table projection_table(const Subject& subject);

// The columns that say which cell a row is of, and their values: one for each axis with several values.
std::vector<TableColumn> point_columns(const Grid& grid);
std::vector<TableValue> point_values(const Grid& grid, const GridCell& cell);
// A table with those columns first.
Table cell_table(const std::string& name, const std::string& title, const Grid& grid);
// What an axis is called: batch says whose it is.
std::string axis_heading(const std::string& axis);
// A column of shares, which are shown in percent.
TableColumn share_column(const std::string& key, const std::string& heading);
// A column of a figure of run_figures.h, headed by what it is; accuracies are shown in percent.
TableColumn figure_column(std::string_view figure_name, const std::string& heading, bool exact = false);

}  // namespace lockstep::report
