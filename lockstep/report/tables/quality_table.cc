// What was learnt, by cell, with the epoch that each figure was taken after.
#include <algorithm>

#include "lockstep/report/model/last_epoch.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

// Of any figure of validation that the cell has.
std::optional<Number> validated_epoch(const GridCell& cell) {
  for (const char* name : {"val_loss", "val_accuracy", "val_psnr"})
    if (const auto epoch = epoch_of(cell, name)) return epoch;
  return std::nullopt;
}

// Where validation comes less often than an epoch ends.
bool validates_earlier(const GridCell& cell) {
  const auto trained = epoch_of(cell, "train_loss"), validated = validated_epoch(cell);
  return trained && validated && trained->value != validated->value;
}

TableValue epoch_cell(const std::optional<Number>& epoch) {
  return epoch ? count(epoch->value) : TableValue{};
}

}  // namespace

Table quality_table(const Subject& subject) {
  const std::vector<GridCell>& cells = subject.grid.cells;
  Table table = cell_table("quality", "Quality after the last finished epoch", subject.grid);
  table.columns.insert(table.columns.end(), {{"train_epoch", "epoch", "", true},
                                             figure_column("train_loss", "train loss"),
                                             figure_column("train_accuracy", "train accuracy"),
                                             {"val_epoch", "validated after epoch", "", true},
                                             figure_column("val_loss", "val loss"),
                                             figure_column("val_accuracy", "val accuracy"),
                                             figure_column("val_psnr", "val PSNR"),
                                             {"remark", "remark"}});
  const bool apart = std::any_of(cells.begin(), cells.end(), validates_earlier);
  for (const GridCell& cell : cells) {
    if (cell.runs.empty()) continue;
    std::vector<TableValue> row = point_values(subject.grid, cell);
    row.insert(row.end(), {epoch_cell(epoch_of(cell, "train_loss")), value(figure(cell, "train_loss")),
                           value(figure(cell, "train_accuracy")),
                           apart ? epoch_cell(validated_epoch(cell)) : TableValue{},
                           value(figure(cell, "val_loss")), value(figure(cell, "val_accuracy")),
                           value(figure(cell, "val_psnr")), word(stopped_text(cell))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace lockstep::report
