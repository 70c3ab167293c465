// localsgd: what the ranks' own models were worth before their weights were averaged, and the average after.
#include "lockstep/report/model/averaging.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

void add_row(Table& table, const Subject& subject, const GridCell& cell, const Averaging& averaging) {
  std::vector<TableValue> row = point_values(subject.grid, cell);
  row.push_back(count(averaging.epoch));
  for (const auto& number : {averaging.least_loss, averaging.mean_loss, averaging.most_loss,
                             averaging.loss_after, averaging.mean_accuracy, averaging.accuracy_after})
    row.push_back(value(number));
  table.rows.push_back(std::move(row));
}

}  // namespace

Table averaging_table(const Subject& subject) {
  Table table =
      cell_table("averaging", "Validation before and after the ranks' weights were averaged", subject.grid);
  table.columns.insert(table.columns.end(),
                       {{"epoch", "epoch", "", true},
                        {"least_val_loss_before", "val loss before, best rank"},
                        {"val_loss_before", "val loss before, mean of ranks"},
                        {"most_val_loss_before", "val loss before, worst rank"},
                        {"val_loss_after", "val loss after"},
                        share_column("val_accuracy_before", "val accuracy before, mean of ranks"),
                        share_column("val_accuracy_after", "val accuracy after")});
  table.note =
      "Before: each rank's own model, on its own part of the validation samples. After: the averaged model, "
      "on the same samples. The first and the last epoch, where there are several.";
  for (const GridCell& cell : subject.grid.cells) {
    const auto first = averaging_of(cell, AveragedEpoch::first);
    if (!first) continue;
    add_row(table, subject, cell, *first);
    // Of a single epoch the last is the first.
    const Averaging last = *averaging_of(cell, AveragedEpoch::last);
    if (last.epoch != first->epoch) add_row(table, subject, cell, last);
  }
  return table;
}

}  // namespace lockstep::report
