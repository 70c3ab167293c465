// Watches, on rank 0, for tensors that some ranks have and others do not get: first a warning, then the end
// of the run, each with the ranks and the tensors that are missing. Pure: the caller says what time it is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/parallel/horovod/negotiation_table.h"

namespace lockstep::parallel::horovod {

struct StallLimits {
  base::Nanoseconds warning = std::chrono::seconds(60);    // zero: never warn
  base::Nanoseconds shutdown = std::chrono::seconds(300);  // when waiting ends the run
};

class StallInspector {
 public:
  StallInspector(const StallLimits& limits, std::size_t tensors);

  // What waits now. A tensor has waited since it was first in this list without a break.
  void update(std::span<const Waiting> waiting, base::TimePoint now);
  // Those that have waited for as long as the warning says and were not warned of before.
  std::vector<Waiting> to_warn_of(base::TimePoint now);
  // Those that have waited too long.
  std::vector<Waiting> overdue(base::TimePoint now) const;

 private:
  struct Watch {
    base::TimePoint since;
    bool waits = false;
    bool warned = false;
  };

  StallLimits limits_;
  std::vector<Watch> watches_;  // by tensor
  std::vector<Waiting> waiting_;
};

// "rank 1 has not produced conv1.weight and conv1.bias; ranks 2 and 3 have not produced fc.bias"
std::string missing_text(std::span<const Waiting> waiting, std::span<const TensorFacts> tensors);

}  // namespace lockstep::parallel::horovod
