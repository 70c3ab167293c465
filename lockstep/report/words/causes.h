// Why a cell's step takes what it takes.
#pragma once

#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {

// What binds the cell: waiting for data, a straggler, communication; each named only where its share of the
// step says so, with what to try. Empty where nothing does or the split is unknown.
Sentences causes_of(const GridCell& cell);
// Whether that could be told: of data and communication by the split of the step, of stragglers by what every
// rank waited for its peers.
bool knows_split(const GridCell& cell);
bool knows_waits(const GridCell& cell);

// Of the growth of the step from one cell to the other: the part that grew the most. Empty where it did not
// grow.
Sentences growth_of(const GridCell& from, const GridCell& to);
// The same where each worker has another number of threads: what grew, without a part that were to blame.
Sentences thread_growth_of(const GridCell& from, const GridCell& to, const ThreadChange& threads);

}  // namespace lockstep::report
