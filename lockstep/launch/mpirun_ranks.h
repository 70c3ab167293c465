// Ranks that mpirun starts for us, because the mpi backend's ranks must be its children.
//
// mpirun mixes its ranks' output and ends the others when one fails, before they could say where they are. So
// ranks get named pipes of their own (rank_output.h), mpirun is told to let the others run, and the launcher
// ends ranks itself by their process numbers. mpirun's own words are held back.
#pragma once

#include <memory>

#include "lockstep/launch/output_pump.h"
#include "lockstep/launch/rank_group.h"
#include "lockstep/launch/rank_plan.h"

namespace lockstep::launch {

// Throws DeviceError when there is no mpirun. Must be called before the process has threads.
std::unique_ptr<RankGroup> start_mpirun_ranks(const RankPlan& plan, OutputPump& pump);

}  // namespace lockstep::launch
