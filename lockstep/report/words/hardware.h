// What hardware workers had: cores that are left, and threads that one worker had more of than each of many.
#pragma once

#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {

// Whether the machine that made the cell has cores for more workers; unknown counts as yes. Workers that did
// not ask for threads share all cores among them.
bool has_spare_cores(const GridCell& cell);

// What slices of a GPU are not; nothing where no worker has one.
Sentences slice_words(const Grid& grid);

// That N workers are not N times the hardware where one had another number of threads than each of them.
Sentence threads_sentence(const GridCell& one, const ScalingStep& step, const ThreadChange& threads);
// For a speedup above the ideal, where that counts threads. A reason is named as a likely one, and only where
// the excess is beyond the noise; nothing is said where it is within it.
Sentences beyond_threads_words(const GridCell& one, const ScalingStep& step, const ThreadChange& threads);

}  // namespace lockstep::report
