// Figures of cells that run_figures.h does not hold, because they need a name besides: a span, a purpose.
#pragma once

#include "lockstep/report/model/grid.h"
#include "lockstep/report/model/spans.h"

namespace lockstep::report {

std::optional<Number> span_seconds(const GridCell& cell, const Span& span);
// Of the whole run, all ranks; nothing where no row of the ledger has the purpose.
std::optional<Number> payload_of(const GridCell& cell, std::string_view purpose);
std::optional<Number> wire_of(const GridCell& cell, std::string_view purpose);
bool wire_is_estimated(const GridCell& cell, std::string_view purpose);
std::optional<Number> memory_use(const GridCell& cell, std::string_view use);
std::optional<Number> memory_cap(const GridCell& cell);
// Optimiser steps of one epoch; nothing where runs may have done a part of one only.
std::optional<Number> steps_per_epoch(const GridCell& cell);
// Gradient payload of one step, of all collectives.
std::optional<Number> gradient_bytes_per_step(const GridCell& cell);
std::optional<Number> link_peak(const GridCell& cell);
bool is_peak_known(const Grid& grid);
// Busy less exposed, a step; not below zero: exposed also holds packing and waiting to start, which are not
// busy.
std::optional<Number> hidden_seconds(const GridCell& cell);
// The rank that waits the longest for the others: what of its exposed communication was waiting for a peer,
// and its mean step, seconds.
struct RankWait {
  int rank = 0;
  Number wait;
  double step = 0;
};
// Exposed or peer wait, whichever is shorter: what overlapped with backward kept nobody waiting. Nothing
// where no peer wait was measured.
std::optional<RankWait> longest_wait(const GridCell& cell);
// The same of one rank; nothing where the record does not hold it.
std::optional<double> exposed_wait(const record::RankFigures& rank);
// Of the whole job: what launch, load, train and validate, as far as they are known, leave.
std::optional<Number> rest_seconds(const GridCell& cell);
// "other", or "launch and the rest" where no record knows the launch.
std::string rest_heading(const Grid& grid);
// Steps that were measured, of the first run.
std::int64_t measured_steps(const GridCell& cell);

// Of a cell that ran out of memory: what a step needs and what there was, as far as its record or the message
// of its failure knows.
std::optional<double> needed_bytes(const GridCell& cell);
std::optional<double> cap_of_failure(const GridCell& cell);

}  // namespace lockstep::report
