// What a study still has to do: pure, told of every run that has ended. Repeats go round: every cell's first,
// then every cell's second, each round shuffled, so that what is compared is interleaved and a slow hour of
// the machine hits all cells alike.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/study_plan.h"
#include "lockstep/record/record.h"

namespace lockstep::lab {

struct NextRun {
  std::size_t cell = 0;
  int repeat = 1;
};

enum class EndKind {
  goes_on,
  cannot_run,
  interval_reached,
  repeats_done,
  budget_spent,
  out_of_memory,
  failed,
  ladder_ended
};

// Why a cell is not repeated any more.
struct CellEnd {
  EndKind kind = EndKind::goes_on;
  std::string text;
  bool ended() const { return kind != EndKind::goes_on; }
};

class StudyState {
 public:
  explicit StudyState(const StudyPlan& plan);

  // A run that has ended, now or in an earlier sitting.
  void add(std::size_t cell, int repeat, const record::RunRecord& record);

  // What to run next; nothing when every cell has ended, or `seconds_left` is too short for what there is.
  std::optional<NextRun> next(std::optional<double> seconds_left) const;
  CellEnd end_of(std::size_t cell) const;
  int done(std::size_t cell) const { return static_cast<int>(runs_[cell].size()); }
  // How far the repeats of the interval's figure (step_seconds without a goal) lie apart, relative.
  std::optional<double> half_width(std::size_t cell) const;
  // Of all runs to come, corrected by how earlier ones compared with their estimates.
  double seconds_to_go() const;
  int runs_to_go() const;

 private:
  struct Ended {
    std::string status;
    double seconds = 0;
    std::optional<double> interval_figure, ladder_figure;
  };

  int next_repeat(std::size_t cell) const;
  bool has(std::size_t cell, const std::string& status) const;
  CellEnd ladder_end(std::size_t cell) const;
  bool waits_for_ladder(std::size_t cell) const;
  std::optional<std::size_t> rung_below(std::size_t cell) const;
  std::size_t value_index(std::size_t cell) const;
  std::size_t index_of_value(const std::string& label) const;
  double estimate(std::size_t cell) const;
  double seconds_spent(std::size_t cell) const;
  double ladder_mean(std::size_t cell) const;  // 0: nothing is known
  double growth_of(std::size_t cell) const;
  std::optional<double> gain_of(std::size_t cell) const;

  const StudyPlan& plan_;
  std::vector<std::map<int, Ended>> runs_;  // of each cell, by repeat
};

// The place of a repeat in its round's order, the same in every sitting.
std::string shuffle_key(const StudyPlan& plan, const NextRun& run);

}  // namespace lockstep::lab
