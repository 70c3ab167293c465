// A study as this machine would run it: cells resolved, with what cannot run here and why. Whoever knows the
// machine (the command line) plans each cell; this module only asks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/lab/run_execution.h"
#include "lockstep/lab/study_cells.h"

namespace lockstep::lab {

struct PlannedCell {
  Cell cell;                    // resolved where it can run
  std::string cannot_run;       // why it cannot run here; empty when it can
  std::string stand_in;         // "data digits stands in for cifar10, which is not here"; empty: nothing does
  bool oversubscribed = false;  // more threads than cores: runs, and is kept out of fits
  double estimate_seconds = 0;  // of one repeat
  RunRequest request;           // how to start it
};

struct StudyPlan {
  Study study;
  std::vector<PlannedCell> cells;
};

// What an impossible combination is worth: refused, with the place that made it, or listed.
struct CellProblem {
  std::string text;
  std::string field;        // whose value is to blame
  bool impossible = false;  // on any machine; false: only here
};

// Where the file gave a cell the value of a field: an axis before the base. Empty where it did not.
std::string place_of(const Study& study, const Cell& cell, const std::string& field);

}  // namespace lockstep::lab
