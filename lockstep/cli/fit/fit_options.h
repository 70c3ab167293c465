// What `lockstep fit` was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/cli/flag.h"

namespace lockstep::cli {

struct FitOptions {
  std::vector<std::string> passed_on;  // flags of `lockstep train`, as they were typed
  std::uint64_t device_memory = 0;     // 0: not given
  int workers = 2;
  int steps = 3;
  int largest_batch = 4096;
  base::Nanoseconds trial_timeout = std::chrono::minutes(2);
  std::vector<std::string> answers;  // empty: all
  bool json = false;

  // Throws UsageError.
  void validate() const;
};

std::vector<Flag> fit_flags(FitOptions& options);

}  // namespace lockstep::cli
