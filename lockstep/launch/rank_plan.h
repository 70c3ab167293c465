// What is decided about the ranks before any of them is started.
#pragma once

#include <string>
#include <vector>

#include "lockstep/device/cpu_placement.h"
#include "lockstep/launch/launcher.h"
#include "lockstep/launch/rank_environment.h"

namespace lockstep::launch {

struct RankPlan {
  std::vector<std::string> command;
  device::CpuPlacement placement;
  Variables inherited;  // from this process
  Variables added;      // for every rank: the user's, the libraries', the run's
};

RankPlan plan_ranks(const LaunchOptions& options, const RunAddress& run);

}  // namespace lockstep::launch
