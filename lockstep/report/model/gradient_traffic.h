// The collective that carries the gradient: which it is, how long it takes a step, and what it could at best
// take. All of it is of the whole run, warm-up included, as the bandwidths of a record are, so that payload,
// time and bandwidth of a cell agree.
#pragma once

#include <string>

#include "lockstep/measure/collective.h"
#include "lockstep/report/model/grid.h"

namespace lockstep::report {

// The collective that moved the most gradient bytes; nothing where no gradient was sent, as with localsgd or
// one worker.
std::optional<measure::Collective> gradient_collective(const GridCell& cell);

// Of that collective, a step of rank 0: its payload, the time in which it was in flight, and what of that was
// not waiting for a peer (payload over algorithm bandwidth).
std::optional<Number> gradient_payload(const GridCell& cell);
std::optional<Number> gradient_busy_seconds(const GridCell& cell);
std::optional<Number> gradient_transfer_seconds(const GridCell& cell);
// The ring formula's least for it at the link's measured peak.
std::optional<Number> gradient_bound_seconds(const GridCell& cell);

// "2(N-1)/N for all_reduce, (N-1)/N for reduce_scatter": what multiplies algorithm to bus bandwidth, of the
// collectives that the grid's cells have; empty where they have none.
std::string bus_factors_text(const Grid& grid);

}  // namespace lockstep::report
