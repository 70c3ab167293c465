// lockstep study: a grid of runs, resumable.
#pragma once

#include "lockstep/cli/command.h"
#include "lockstep/cli/study/study_options.h"

namespace lockstep::cli {

class StudyCommand : public Command {
 public:
  std::string_view name() const override { return "study"; }
  std::string_view summary() const override { return "run a grid of trainings that answers a question"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override { return study_flags(request_); }
  int run(const Invocation& invocation) override;

 private:
  bool is_for_another_task() const;
  int list(const Console& console) const;
  int run_cells(const Console& console) const;

  StudyRequest request_;
};

}  // namespace lockstep::cli
