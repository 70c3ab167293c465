#include "lockstep/lab/study_runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <iterator>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"

namespace lockstep::lab {
namespace {

// Between runs the signals that end a run are held back, so that the study ends with a word; a run that
// starts while one is pending ends at once.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
      if (!is_ignored(number)) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Takes a signal that came; 0: none.
  int take() const {
    const timespec no_wait{};
    const int number = sigtimedwait(&set_, nullptr, &no_wait);
    return number > 0 ? number : 0;
  }

 private:
  // As under nohup: the kernel would queue it all the same.
  static bool is_ignored(int number) {
    struct sigaction current {};
    sigaction(number, nullptr, &current);
    return current.sa_handler == SIG_IGN;
  }

  sigset_t set_{};
  sigset_t before_{};
};

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

// Takes over what has ended; what has not leaves the store.
void take_over(StudyState& state, StudyOutcome& outcome, const EarlierRuns& earlier) {
  outcome.of_other_versions = static_cast<int>(std::ssize(earlier.of_other_versions));
  for (const EarlierRun& run : earlier.of_this_version) {
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
    const EarlierRuns earlier = earlier_runs(options_.store, plan_);
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
    const HeldSignals signals;
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
    const RunDirectory run =
        RunDirectory::create(options_.store, planned.cell.spec_of(next.repeat),
                             StudyPlace{plan_.study.id(), planned.cell.name, next.repeat});
    const RunWatcher watch = watcher_.on_run ? watcher_.on_run(state_, next, run) : RunWatcher{};
    const launch::LaunchResult result = started(run, planned.request, watch);
    const ConcludedRun concluded = conclude_run(run, {result, base::now() - start}, options_.machine);
    if (!concluded.trouble.empty()) throw base::StoreError(concluded.trouble);
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
