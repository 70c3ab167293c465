// How many GPUs this machine's driver shows us.
#pragma once

#include <string>

namespace lockstep::cli {

struct GpuCount {
  int count = 0;
  std::string why_none;  // when 0
};

// Asks NVIDIA's driver in a process of its own: CUDA cannot be used again after a fork, and a driver that
// hangs must not hang us.
GpuCount count_gpus();

}  // namespace lockstep::cli
