// Which epoch's figures stand for a run.
#pragma once

#include <optional>
#include <span>

#include "lockstep/record/record.h"

namespace lockstep::record {

// The figure of the last epoch that has it: a finished one if there is any, since an epoch that the run ended
// in tells of a few steps only.
std::optional<double> last_figure(std::span<const EpochFigures> epochs,
                                  std::optional<double> EpochFigures::*figure);

}  // namespace lockstep::record
