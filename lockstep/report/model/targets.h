// When a run reached what a study wanted reached.
#pragma once

#include "lockstep/lab/study.h"
#include "lockstep/report/model/grid.h"

namespace lockstep::report {

struct Reached {
  double epochs = 0;
  std::optional<double> seconds;  // of training, up to the end of that epoch; nothing where that began in
                                  // another record
};

// Losses must fall below the target, accuracy and PSNR rise to it, at the end of an epoch. Nothing where it
// never was.
std::optional<Reached> reached(const record::RunRecord& run, const lab::Target& target);

// How many runs of the cell did, whether all did, and "1 of 5".
std::size_t runs_that_reached(const GridCell& cell, const lab::Target& target);
bool is_reached(const GridCell& cell, const lab::Target& target);
std::string reached_text(const GridCell& cell, const lab::Target& target);

// The study's targets, else the one that the runs' specs name.
std::vector<lab::Target> targets_of(const lab::Study* study, const Grid& grid);

// "val loss below 0.04".
std::string target_text(const lab::Target& target);

// Over the runs that reached it.
std::optional<Number> epochs_until(const GridCell& cell, const lab::Target& target);
std::optional<Number> seconds_until(const GridCell& cell, const lab::Target& target);

}  // namespace lockstep::report
