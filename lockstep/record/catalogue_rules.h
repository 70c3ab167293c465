// Which combinations of the five dimensions work. Any other is refused before anything starts: by name, with
// the reason and the nearest one that works.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::record {

struct Problem {
  std::string field;    // "backend"
  std::string value;    // "nccl"
  std::string reason;   // a clause: "it moves buffers of GPUs only"
  std::string nearest;  // what would work: "backend shm, or device cuda"; empty where nothing is near
};

// Whether the backend moves memory of GPUs itself, without the host's.
bool moves_device_memory(const std::string& backend);

// "backend 'nccl' with device 'cpu': it moves ... The nearest that works: ..."
std::string text_of(const Problem& problem);

// Every rule the combination breaks, in the order of importance; empty when it works.
std::vector<Problem> problems_of(const Combination& run);

}  // namespace lockstep::record
