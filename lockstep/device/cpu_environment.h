// The environment variables a worker's numerical libraries need. They are read before main, so the launcher
// sets them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lockstep/device/cpu_features.h"

namespace lockstep::device {

struct CpuEnvironmentFacts {
  CpuFeatures features{};
  int threads = 1;                   // of one worker
  bool threads_were_asked = false;   // by a flag, which wins over the user's variables
  bool oversubscribed = false;       // workers share cores
  std::set<std::string> user_set{};  // names of variables the user has set; those are left alone
};

// The variables to add. Pure.
std::map<std::string, std::string> cpu_environment(const CpuEnvironmentFacts& facts);

}  // namespace lockstep::device
