#include "lockstep/lab/study_runner.h"

#include <fmt/format.h>
#include <iterator>
#include <thread>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/launch/signals.h"

namespace lockstep::lab {
namespace {

// After a study was killed, its ranks are ended within moments.
constexpr base::Nanoseconds kLongestEnd = std::chrono::seconds(5);

// An answer, which is never asked for again; a failure may have had a cause outside the run.
bool is_answer(const EarlierRun& run) {
  return run.record && (run.record->status == "finished" || run.record->status == "out_of_memory");
}

void require_choice(const StudyPlan& plan, const StudyOptions& options, const EarlierRuns& earlier) {
  if (options.resume || options.fresh || earlier.of_this_version.empty()) return;
  throw base::ConfigError(fmt::format(
      "study {} has {} in {} already. Next step: --resume goes on with what is missing, "
      "--fresh removes them "
      "and begins anew.",
      plan.study.id(), base::counted(std::ssize(earlier.of_this_version), "run"), options.store.string()));
}

// All that the study left here, whatever version of it: a report must not meet any of them again.
void remove_all(StudyOutcome& outcome, const EarlierRuns& earlier) {
  for (const EarlierRun& run : earlier.of_this_version) run.directory.remove();
  for (const RunDirectory& run : earlier.of_other_versions) run.remove();
  outcome.removed =
      static_cast<int>(std::ssize(earlier.of_this_version) + std::ssize(earlier.of_other_versions));
}

// The record of a run whose study was killed before it could be made. Its ranks may be ending still.
record::RunRecord concluded(const RunDirectory& run) {
  const base::Deadline deadline(kLongestEnd);
  while (run.is_alive() && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  LateConclusion late = conclude_late(run);
  base::log_info(fmt::format("run {} had no record: it was made from what its ranks wrote ({})", run.id(),
                             late.record.status));
  return std::move(late.record);
}

// What a run lacks whose study was killed between its record and its merged events. Its answer is there
// without.
void complete(const RunDirectory& run) {
  if (is_concluded(run)) return;
  try {
    conclude_late(run);
    base::log_info(
        fmt::format("run {} had no merged events: they were made from what its ranks wrote", run.id()));
  } catch (const base::Error& error) {
    base::log_warning(fmt::format("run {} has no merged events: {}", run.id(), error.what()));
  }
}

// Takes over what has ended; what has not leaves the store.
void take_over(StudyState& state, StudyOutcome& outcome, EarlierRuns& earlier) {
  outcome.of_other_versions = static_cast<int>(std::ssize(earlier.of_other_versions));
  for (EarlierRun& run : earlier.of_this_version) {
    if (!run.record) run.record = concluded(run.directory);
    complete(run.directory);
    if (!is_answer(run)) {
      run.directory.remove();
      continue;
    }
    state.add(run.cell, run.repeat, *run.record);
    ++outcome.kept;
  }
}

class Sitting {
 public:
  Sitting(const StudyPlan& plan, const StudyOptions& options, const StudyWatcher& watcher)
      : plan_(plan), options_(options), watcher_(watcher), state_(plan) {}

  StudyOutcome run() {
    const StudyLock lock(options_.store, plan_.study.id());
    EarlierRuns earlier = earlier_runs(options_.store, plan_);
    require_choice(plan_, options_, earlier);
    if (options_.fresh) {
      remove_all(outcome_, earlier);
    } else {
      take_over(state_, outcome_, earlier);
    }
    keep_study(options_.store, plan_, state_);
    if (watcher_.on_begin) watcher_.on_begin(state_);
    run_cells();
    keep_study(options_.store, plan_, state_);
    report_cells();
    return outcome_;
  }

 private:
  void run_cells() {
    const launch::HeldSignals signals;  // a run that starts while one is pending ends at once
    while (outcome_.end == StudyOutcome::End::done) {
      const std::optional<NextRun> next = state_.next(seconds_left());
      if (!next) break;
      run_one(*next);
      if (const int number = signals.take())
        interrupted(static_cast<int>(base::ExitCode::signal_base) + number);
    }
    if (outcome_.end == StudyOutcome::End::done && state_.next(std::nullopt))
      outcome_.end = StudyOutcome::End::budget;
  }

  void run_one(const NextRun& next) {
    const PlannedCell& planned = plan_.cells[next.cell];
    const base::TimePoint start = base::now();
    const RunDirectory run = RunDirectory::create(
        options_.store, planned.cell.spec_of(next.repeat),
        StudyPlace{plan_.study.id(), planned.cell.name, next.repeat}, launch_of(start, options_.machine));
    const base::UniqueFd held = run.hold();
    const RunWatcher watch = watcher_.on_run ? watcher_.on_run(state_, next, run) : RunWatcher{};
    const launch::LaunchResult result = started(run, planned.request, watch);
    const ConcludedRun concluded = conclude_run(run, {result, base::now() - start}, options_.machine);
    if (!concluded.trouble.empty()) throw base::StoreError(concluded.trouble);
    if (!concluded.no_events.empty()) base::log_warning(concluded.no_events);
    if (result.failure && result.failure->kind == "interrupted") return interrupted(result.exit_code);
    ++outcome_.runs;
    state_.add(next.cell, next.repeat, concluded.record);
    if (state_.end_of(next.cell).ended()) keep_study(options_.store, plan_, state_);
    if (watcher_.on_ended) watcher_.on_ended(state_, next, concluded.record);
  }

  // A run that cannot even be started is a failed run, not the end of the study.
  static launch::LaunchResult started(const RunDirectory& run, const RunRequest& request,
                                      const RunWatcher& watch) {
    try {
      return execute_run(run, request, watch);
    } catch (const base::Error& error) {
      return {static_cast<int>(error.exit_code()), launch::LaunchFailure{-1, "never_started", error.what()}};
    }
  }

  void interrupted(int exit_code) {
    outcome_.end = StudyOutcome::End::interrupted;
    outcome_.exit_code = exit_code;
  }

  std::optional<double> seconds_left() const {
    const auto budget = options_.budget ? options_.budget : plan_.study.budget;
    if (!budget) return std::nullopt;
    return base::to_seconds(*budget - (base::now() - begin_));
  }

  void report_cells() {
    for (std::size_t cell = 0; cell < plan_.cells.size(); ++cell) {
      CellEnd end = state_.end_of(cell);
      if (!end.ended())
        end.text = fmt::format(
            "{} of {}: {}", state_.done(cell), base::counted(plan_.study.repeats.least, "repeat"),
            outcome_.end == StudyOutcome::End::budget ? "the study's budget is spent" : "interrupted");
      outcome_.cells.push_back(end);
      outcome_.repeats.push_back(state_.done(cell));
    }
  }

  const StudyPlan& plan_;
  const StudyOptions& options_;
  const StudyWatcher& watcher_;
  StudyState state_;
  StudyOutcome outcome_;
  base::TimePoint begin_ = base::now();
};

}  // namespace

StudyOutcome run_study(const StudyPlan& plan, const StudyOptions& options, const StudyWatcher& watcher) {
  return Sitting(plan, options, watcher).run();
}

}  // namespace lockstep::lab
