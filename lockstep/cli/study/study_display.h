// One line for a whole study while it runs: cells done, what runs, how far it is, time to go.
#pragma once

#include <memory>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/cli/progress.h"
#include "lockstep/cli/train/event_tail.h"
#include "lockstep/cli/train/live_status.h"
#include "lockstep/lab/study_runner.h"

namespace lockstep::cli {

class StudyDisplay {
 public:
  StudyDisplay(const std::string& how, const lab::StudyPlan& plan);

  lab::RunWatcher begin(const lab::StudyState& state, const lab::NextRun& next, const lab::RunDirectory& run);
  // A line a run where progress is lines.
  void end(const lab::StudyState& state, const lab::NextRun& next, const record::RunRecord& record);
  void clear() { progress_.clear(); }

 private:
  void tick();
  std::string lead() const;

  const lab::StudyPlan& plan_;
  Progress progress_;
  const lab::StudyState* state_ = nullptr;
  lab::NextRun next_;
  std::unique_ptr<EventTail> tail_;
  std::unique_ptr<LiveStatus> status_;
  base::TimePoint begun_{};
};

}  // namespace lockstep::cli
