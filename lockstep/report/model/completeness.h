// How much of what a study planned its records hold: what a report says of itself before anything else.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/study.h"
#include "lockstep/record/record.h"
#include "lockstep/report/model/grid.h"

namespace lockstep::report {

// Runs and cells of a study against its plan. A cell that ended early because its interval was narrow enough
// has all the runs it needs, and one that ran out of memory has its answer.
struct Completeness {
  int planned = 0;  // runs: those of cells that have ended, and the least number of repeats of the others
  int well = 0;     // runs that finished
  int out_of_memory = 0;
  int failed = 0;
  int interrupted = 0;
  int cells = 0;       // of the study
  int cannot_run = 0;  // cells that this machine cannot run
  int cut_short = 0;   // cells whose budget was spent before the least number of repeats
  int going_on = 0;    // cells that still have runs to make

  bool finished() const { return going_on == 0; }
};

Completeness completeness_of(const lab::Study& study, const std::vector<CellNote>& notes,
                             const std::vector<record::RunRecord>& records);

// "Unfinished: 2 of 8 planned runs ended well, 1 failed.", "Quick variant, 8 runs. Cut: ...". `study` may be
// null: then nothing is known of a plan.
std::string first_line(const lab::Study* study, const std::vector<CellNote>& notes,
                       const std::vector<record::RunRecord>& records);

}  // namespace lockstep::report
