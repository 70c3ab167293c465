// The knee: the batch from which a larger one gains little.
#pragma once

#include <vector>

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

inline constexpr double kLeastGain = 0.05;  // of samples per second, from one batch size to the next

struct BatchLadder {
  std::string label;                        // what its cells share
  std::vector<const GridCell*> rungs;       // by batch per worker
  const GridCell* knee = nullptr;           // the first rung whose successor gains less than kLeastGain
  const GridCell* unclear = nullptr;        // the first of which the noise hides that: then there is no knee
  const GridCell* out_of_memory = nullptr;  // the first rung that had too little
};

// What the cell's batch is called where the grid's rows call it so: "global batch 64", "batch 32 per worker".
std::string batch_text(const GridCell& cell);

// Families that differ only in batch, with at least two rungs that finished.
std::vector<BatchLadder> batch_ladders(const Grid& grid);

}  // namespace lockstep::report
