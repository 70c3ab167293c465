// The ranks of a run as the launcher sees them, however they were started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/launch/exit_status.h"
#include "lockstep/launch/poll_set.h"

namespace lockstep::launch {

struct RankExit {
  static constexpr int kMpirun = -1;  // mpirun itself has failed
  int rank;
  ExitStatus status;
};

class RankGroup {
 public:
  // Kills whatever still runs.
  virtual ~RankGroup() = default;

  virtual void watch(PollSet& polls) = 0;
  // The ends noticed since the last call, well or not.
  virtual std::vector<RankExit> collect() = 0;
  virtual bool all_ended() const = 0;
  // When collect() is to be called again even if nothing that is watched has happened.
  virtual std::optional<base::Deadline> due() const { return std::nullopt; }
  // Ranks whose process is stopped (SIGSTOP).
  virtual std::vector<int> stopped() const = 0;
  // To every rank that still runs and what it started.
  virtual void signal_all(int signal_number) = 0;
  // What the starter itself printed, which is not the ranks' output; for when nothing else explains a
  // failure.
  virtual std::string starter_output() const { return {}; }
};

}  // namespace lockstep::launch
