// What a report is made of: runs sorted into cells, and where each cell lies on every axis. Records of a
// study keep its axes; others get the fields in which their specs differ. The machine is an axis as soon as
// records of several meet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/record/record.h"
#include "lockstep/report/model/number.h"

namespace lockstep::report {

// One cell: runs of one spec on one kind of machine.
struct GridCell {
  std::string name;                       // as records carry it; with the machine where there are several
  std::string label;                      // "ddp, 2 workers, batch 32": the axes on which the cells differ
  std::vector<lab::AxisPoint> point;      // in the order of the axes
  std::vector<record::RunRecord> runs;    // that finished
  std::vector<record::RunRecord> others;  // that ran out of memory, failed or were interrupted: in this order
  bool oversubscribed = false;            // more workers, or threads, than cores
  std::string remark;                     // see CellNote

  int workers = 1;
  record::BatchFigures batch;
  bool strong = false;  // the spec fixes the global batch

  std::string at(std::string_view axis) const;
  const record::RunRecord* any() const;  // a finished run, else another, else null
  // "finished", "out_of_memory", ...; "not run".
  std::string status() const;
  // The same where all unfinished runs ended alike, else how many ended how: "1 failed, 1 interrupted".
  std::string outcome() const;
  // "failed"; "1 failed, 1 interrupted".
  std::string others_text() const;
  // Of the runs that did not finish the first of each kind of failure.
  std::vector<const record::RunRecord*> failures() const;
};

struct GridAxis {
  std::string name;
  std::vector<std::string> values;  // in the order in which they are shown
};

struct Grid {
  std::vector<GridAxis> axes;
  std::vector<GridCell> cells;
  std::vector<std::string> warnings;  // records that belong to no cell

  const GridAxis* find_axis(std::string_view name) const;
};

// What is known of a cell besides its runs: why it has none, what stood in for its data, why it was not
// repeated further.
struct CellNote {
  std::string cell;
  std::string remark;
  bool cannot_run = false;  // on this machine: it has no runs and will have none
};

// Whether an axis is one of batches, per worker or global.
bool is_batch(std::string_view axis);

// `study` may be null.
Grid make_grid(const lab::Study* study, const std::vector<CellNote>& notes,
               std::vector<record::RunRecord> records);

// A figure of run_figures.h over the cell's repeats; of a single run the interval of its step time is that of
// its steps.
std::optional<Number> figure(const GridCell& cell, std::string_view name);
// The same from any function of a record.
using RunValue = std::optional<double> (*)(const record::RunRecord&);
std::optional<Number> figure(const GridCell& cell, RunValue of);

// "2 workers", "batch 32 per worker", "ddp", "learning_rate 0.1": a value of an axis, to be read alone.
std::string point_text(const lab::AxisPoint& point);
// The same beside other values of its axis: all of them with the axis's name, or none.
std::string point_text(const GridAxis& axis, const std::string& value);
// The label of a cell without some of the axes.
std::string label_without(const Grid& grid, const GridCell& cell, const std::vector<std::string>& axes);

// The first sentence of a message, without its full stop.
std::string first_sentence(const std::string& text);
// The reasons that a remark joins by "; ", each once and in its short form.
std::vector<std::string> reasons_of(const std::string& remark);

// "vm (AMD EPYC, 2 cores)": what kind of machine made a record.
std::string machine_text(const record::RunRecord& record);
bool is_oversubscribed(const record::RunRecord& record);

}  // namespace lockstep::report
