// Tables whose columns are figures of run_figures.h, one row a cell.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>

#include "lockstep/base/text.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/last_epoch.h"
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

// "interval ±1116.3 %" says only that it is wider than the value.
std::string without_absurd_interval(const std::string& text) {
  static const std::regex kInterval("interval ±([0-9.]+) %");
  std::smatch found;
  if (!std::regex_search(text, found, kInterval) || std::stod(found[1]) <= 100) return text;
  return found.prefix().str() + "interval wider than the value" + found.suffix().str();
}

// A failure in a few words; the whole message stands below the table.
std::string short_failure(const GridCell& cell, const record::RunRecord& run) {
  const auto needed = needed_bytes(cell), cap = cap_of_failure(cell);
  if (run.status == "out_of_memory" && needed && cap)
    return fmt::format("out of memory: a step needs about {}, the cap is {}", with_unit(*needed, "B"),
                       with_unit(*cap, "B"));
  return first_sentence(run.failure->message);
}

// The failures of a cell of which no run finished, as far as they are known.
std::vector<const record::RunRecord*> told_failures(const GridCell& cell) {
  if (!cell.runs.empty()) return {};
  std::vector<const record::RunRecord*> runs = cell.failures();
  std::erase_if(runs, [](const record::RunRecord* run) { return !run->failure; });
  return runs;
}

// Runs of a cell that did not finish beside others that did.
std::string other_runs(const GridCell& cell) {
  if (cell.runs.empty() || cell.others.empty()) return "";
  return fmt::format("{} more run{} did not finish ({})", cell.others.size(),
                     cell.others.size() == 1 ? "" : "s", cell.others_text());
}

std::string remark_of(const GridCell& cell) {
  std::vector<std::string> parts;
  const auto failures = told_failures(cell);
  for (const record::RunRecord* run : failures) parts.push_back(short_failure(cell, *run));
  for (const std::string& text : {other_runs(cell), stopped_text(cell)})
    if (!text.empty()) parts.push_back(text);
  if (cell.oversubscribed) parts.emplace_back("oversubscribed");
  // The note of a cell may join several reasons, and repeat one.
  for (const std::string& reason : reasons_of(cell.remark)) {
    const std::string text = without_absurd_interval(reason);
    if (!failures.empty() && text.starts_with("out of memory")) continue;  // said already
    if (std::find(parts.begin(), parts.end(), text) == parts.end()) parts.push_back(text);
  }
  return base::join(parts, "; ");
}

// The whole of the messages that the table shows the beginning of, each once and in a line of its own.
std::string failure_notes(const Grid& grid) {
  std::string notes;
  std::set<std::string> told;
  for (const GridCell& cell : grid.cells)
    for (const record::RunRecord* run : told_failures(cell)) {
      std::string message = run->failure->message;
      if (!told.insert(message).second) continue;
      std::replace(message.begin(), message.end(), '\n', ' ');
      notes += fmt::format("\n{}: {}", cell.label, message);
    }
  return notes;
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
    row.push_back(word(cell.outcome()));
    row.push_back(count(static_cast<double>(cell.runs.size() + cell.others.size())));
    for (const FigureColumn& column : figures) row.push_back(value(figure(cell, column.figure)));
    row.push_back(word(remark_of(cell)));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "Medians over repeats; in brackets the 95 % interval (of fewer than six repeats by Student's t, of a "
      "single run's step that of its steps). The step is the median step of a run; samples per second follow "
      "its mean step, so that a few long steps change them and not the step. Repeats count every run, also "
      "one that did not finish." +
      failure_notes(subject.grid);
  return table;
}

Table minutes_table(const Subject& subject) {
  Table table = cell_table("minutes", "The whole job, by part, and the final loss", subject.grid);
  const std::vector<FigureColumn> parts = {{"total_seconds", "whole job"},
                                           {"launch_seconds", "launch"},
                                           {"load_seconds", "load"},
                                           {"train_seconds", "train"},
                                           {"validate_seconds", "validate"}};
  const std::vector<FigureColumn> losses = {{"train_loss", "train loss"}, {"val_loss", "val loss"}};
  for (const FigureColumn& column : parts)
    table.columns.push_back(figure_column(column.figure, column.heading));
  table.columns.push_back({"rest_seconds", rest_heading(subject.grid), "s"});
  for (const FigureColumn& column : losses)
    table.columns.push_back(figure_column(column.figure, column.heading));
  for (const GridCell& cell : subject.grid.cells) {
    if (!figure(cell, "total_seconds")) continue;
    std::vector<TableValue> row = point_values(subject.grid, cell);
    for (const FigureColumn& column : parts) row.push_back(value(figure(cell, column.figure)));
    row.push_back(value(rest_seconds(cell)));
    for (const FigureColumn& column : losses) row.push_back(value(figure(cell, column.figure)));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "The whole job runs from the command to its end; the parts make it up, the last of them being what the "
      "others leave.";
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
