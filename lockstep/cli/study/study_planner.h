// Plans a study for this machine: every cell is checked and resolved as `lockstep train` would, what cannot
// run here gets its reason, and what no machine can run refuses the study with file and line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/cli/study/run_estimate.h"
#include "lockstep/lab/study_plan.h"

namespace lockstep::cli {

class StudyPlanner {
 public:
  explicit StudyPlanner(std::filesystem::path store);

  // Throws ConfigError for an impossible combination, unless the study lists such cells.
  lab::StudyPlan plan(lab::Study study);

 private:
  lab::PlannedCell plan_cell(const lab::Study& study, lab::Cell cell);
  void resolve_cell(const lab::Study& study, lab::PlannedCell& planned);
  void start_or_say_why_not(lab::PlannedCell& planned);
  void add_effort(lab::PlannedCell& planned);
  int gpus();

  std::filesystem::path store_;
  RunEstimate estimate_;
  int cores_;
  std::optional<int> gpus_;
};

}  // namespace lockstep::cli
