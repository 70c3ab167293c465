// Ends the ranks in steps: a moment in which they end by themselves, SIGTERM, and after the grace period
// SIGKILL.
#pragma once

#include <optional>

#include "lockstep/base/clock.h"
#include "lockstep/launch/rank_group.h"

namespace lockstep::launch {

class Ending {
 public:
  explicit Ending(RankGroup& ranks) : ranks_(ranks) {}

  // From now on the ranks have `moment` to end by themselves, and `grace` after SIGTERM. Only the first call
  // counts.
  void begin(base::Nanoseconds moment, base::Nanoseconds grace);
  void kill_now();
  // Takes the next step when its time has come.
  void advance();
  bool begun() const { return due_.has_value(); }
  // When the next step is due; only after begin().
  std::optional<base::Deadline> due() const { return due_; }

 private:
  enum class Step { terminate, kill };
  void terminate();

  RankGroup& ranks_;
  base::Nanoseconds grace_{0};
  Step next_ = Step::terminate;
  std::optional<base::Deadline> due_;
};

}  // namespace lockstep::launch
