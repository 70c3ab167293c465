// Tables whose columns are figures of run_figures.h, one row a cell.
#include <algorithm>
#include <string_view>

#include "lockstep/base/text.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

struct FigureColumn {
  std::string_view figure;
  const char* heading;
  bool exact = false;
};

void add_row(Table& table, const Subject& subject, const GridCell& cell,
             const std::vector<FigureColumn>& columns) {
  std::vector<TableValue> row = point_values(subject.grid, cell);
  for (const FigureColumn& column : columns) row.push_back(value(figure(cell, column.figure)));
  table.rows.push_back(std::move(row));
}

// Cells that never finished a run have no figures and no row.
Table figure_table(const std::string& name, const std::string& title, const Subject& subject,
                   const std::vector<FigureColumn>& columns) {
  Table table = cell_table(name, title, subject.grid);
  for (const FigureColumn& column : columns)
    table.columns.push_back(figure_column(column.figure, column.heading, column.exact));
  for (const GridCell& cell : subject.grid.cells)
    if (!cell.runs.empty()) add_row(table, subject, cell, columns);
  return table;
}

std::string remark_of(const GridCell& cell) {
  std::vector<std::string> parts;
  if (const record::RunRecord* run = cell.any(); run != nullptr && run->failure && cell.runs.empty())
    parts.push_back(run->failure->message);
  if (cell.oversubscribed) parts.emplace_back("oversubscribed");
  if (!cell.remark.empty()) parts.push_back(cell.remark);
  return base::join(parts, "; ");
}

}  // namespace

Table summary_table(const Subject& subject) {
  Table table = cell_table("summary", "Every cell", subject.grid);
  const std::vector<FigureColumn> figures = {
      {"step_seconds", "step"},      {"samples_per_second", "samples"}, {"train_loss", "train loss"},
      {"val_loss", "val loss"},      {"val_accuracy", "val accuracy"},  {"val_psnr", "val PSNR"},
      {"total_seconds", "whole job"}};
  table.columns.push_back({"status", "status"});
  table.columns.push_back({"repeats", "repeats", "", true});
  for (const FigureColumn& column : figures)
    table.columns.push_back(figure_column(column.figure, column.heading));
  table.columns.push_back({"remark", "remark"});
  for (const GridCell& cell : subject.grid.cells) {
    std::vector<TableValue> row = point_values(subject.grid, cell);
    row.push_back(word(cell.status()));
    row.push_back(count(static_cast<double>(cell.runs.size())));
    for (const FigureColumn& column : figures) row.push_back(value(figure(cell, column.figure)));
    row.push_back(word(remark_of(cell)));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "Medians over repeats; in brackets the 95 % interval (of fewer than six repeats by Student's t, of a "
      "single run's step that of its steps).";
  return table;
}

Table quality_table(const Subject& subject) {
  return figure_table("quality", "Quality after the last epoch", subject,
                      {{"train_loss", "train loss"},
                       {"train_accuracy", "train accuracy"},
                       {"val_loss", "val loss"},
                       {"val_accuracy", "val accuracy"},
                       {"val_psnr", "val PSNR"}});
}

Table minutes_table(const Subject& subject) {
  Table table = figure_table("minutes", "The whole job, by part, and the final loss", subject,
                             {{"total_seconds", "whole job"},
                              {"launch_seconds", "launch"},
                              {"load_seconds", "load"},
                              {"train_seconds", "train"},
                              {"validate_seconds", "validate"},
                              {"train_loss", "train loss"},
                              {"val_loss", "val loss"}});
  table.note =
      "The whole job runs from the command to its end; launch, load and validation do not shrink with "
      "workers.";
  const bool known =
      std::any_of(subject.grid.cells.begin(), subject.grid.cells.end(),
                  [](const GridCell& cell) { return figure(cell, "total_seconds").has_value(); });
  if (!known) table.rows.clear();
  return table;
}

Table axes_table(const Subject& subject) {
  return figure_table("axes", "Computation, communication, bytes and loss", subject,
                      {{"compute_seconds", "computation a step"},
                       {"busy_seconds", "communication in flight a step"},
                       {"exposed_seconds", "exposed communication a step"},
                       {"payload_bytes", "payload", true},
                       {"wire_bytes", "wire", true},
                       {"train_loss", "train loss"},
                       {"epochs_to_target", "epochs to target"}});
}

}  // namespace lockstep::report
