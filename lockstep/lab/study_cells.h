// From a study to its cells: the cross product of its axes without what is excluded.
#pragma once

#include <string>
#include <vector>

#include "lockstep/lab/study.h"

namespace lockstep::lab {

// One spec of a study. `spec` is as asked for; study_plan.h resolves it for this machine.
struct Cell {
  std::string name;              // "strategy=ddp,workers=2": what records carry as `cell`
  std::vector<AxisPoint> point;  // in the order of the axes
  record::RunSpec spec;          // of repeat 1
  std::string hash;              // of `spec`
  bool vary_seed = false;

  // The spec of a repeat (from 1), and its identity.
  record::RunSpec spec_of(int repeat) const;
  std::string hash_of(int repeat) const;
  // The value on an axis; empty where the study has no such axis.
  std::string at(const std::string& axis) const;
};

// In the order of the axes, the last one changing fastest. Throws ConfigError with file, line and suggestion
// for a value that its field does not take, and for a study whose every cell is excluded.
std::vector<Cell> cells_of(const Study& study);

// Replaces a cell's spec, as when `auto` is resolved; the hash follows.
void set_spec(Cell& cell, record::RunSpec spec);

}  // namespace lockstep::lab
