// Shows where a run is while it runs: a line on a terminal, or lines now and then.
#pragma once

#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/cli/progress.h"
#include "lockstep/cli/train/event_tail.h"
#include "lockstep/cli/train/live_status.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/lab/run_directory.h"

namespace lockstep::cli {

class LiveDisplay {
 public:
  // `how` as Progress takes it.
  LiveDisplay(const std::string& how, const TrainPlan& plan, const lab::RunDirectory& run);

  // Reads what rank 0 has written since and shows it.
  void tick();
  void clear() { progress_.clear(); }
  // To be written before lines of others on the same terminal.
  std::string line_lead() const { return progress_.has_bar() ? Progress::kTakeAway : ""; }

 private:
  void show(bool epoch_ended);

  Progress progress_;
  EventTail tail_;
  LiveStatus status_;
  base::Deadline next_line_;
  std::string last_text_;
};

}  // namespace lockstep::cli
