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
  const GridCell* out_of_memory = nullptr;  // the first rung that had too little
};

// Families that differ only in batch, with at least two rungs that finished.
std::vector<BatchLadder> batch_ladders(const Grid& grid);

}  // namespace lockstep::report
