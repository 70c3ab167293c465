// Ranks that are our own child processes.
#pragma once

#include <memory>

#include "lockstep/launch/output_pump.h"
#include "lockstep/launch/rank_group.h"
#include "lockstep/launch/rank_plan.h"

namespace lockstep::launch {

// Starts them all, their output going to the pump. Must be called before the process has threads.
std::unique_ptr<RankGroup> start_local_ranks(const RankPlan& plan, OutputPump& pump);

}  // namespace lockstep::launch
