#include "lockstep/cli/study/study_display.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::cli {

StudyDisplay::StudyDisplay(const std::string& how, const lab::StudyPlan& plan)
    : plan_(plan), progress_(how) {}

lab::RunWatcher StudyDisplay::begin(const lab::StudyState& state, const lab::NextRun& next,
                                    const lab::RunDirectory& run) {
  state_ = &state;
  next_ = next;
  begun_ = base::now();
  tail_ = std::make_unique<EventTail>(run.rank_file(0));
  status_ = std::make_unique<LiveStatus>(plan_.cells[next.cell].cell.spec, std::nullopt);
  if (!progress_.has_bar()) progress_.show(lead());
  return {[this] { tick(); }, progress_.has_bar() ? Progress::kTakeAway : ""};
}

// "[3/12 cells] ddp,workers=2 (repeat 1)  4m 10s to go".
std::string StudyDisplay::lead() const {
  std::size_t ended = 0;
  for (std::size_t cell = 0; cell < plan_.cells.size(); ++cell) ended += state_->end_of(cell).ended();
  const double running = base::to_seconds(base::now() - begun_);
  return fmt::format("[{}/{} cells] {} (repeat {})  {} to go", ended, plan_.cells.size(),
                     plan_.cells[next_.cell].cell.name, next_.repeat,
                     format_time_to_go(std::max(0.0, state_->seconds_to_go() - running)));
}

void StudyDisplay::tick() {
  if (!progress_.has_bar()) return;
  for (const record::Event& event : tail_->read_new()) status_->take(event);
  const std::string where = status_->text();
  progress_.show(lead() + (where.empty() ? "" : "  | " + where));
}

void StudyDisplay::end(const lab::StudyState& state, const lab::NextRun& next,
                       const record::RunRecord& record) {
  if (progress_.has_bar() || !progress_.visible()) return;
  const lab::CellEnd end = state.end_of(next.cell);
  progress_.show(fmt::format("  {} in {:.1f} s{}", record.status, record.wall_seconds.total.value_or(0),
                             end.ended() ? "; " + end.text : ""));
}

}  // namespace lockstep::cli
