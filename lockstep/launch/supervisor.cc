#include "lockstep/launch/supervisor.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"

namespace lockstep::launch {
namespace {

using base::Deadline;
using base::Nanoseconds;

constexpr Nanoseconds kLongestWait = std::chrono::milliseconds(250);
// For ranks that were told of a failure by the server to end by themselves.
constexpr Nanoseconds kMomentToEnd = std::chrono::milliseconds(300);
// For the server to find out who is to blame, beyond the time it gives the ranks to say where they are.
constexpr Nanoseconds kVerdictWait = std::chrono::milliseconds(800);
// How often it is looked which ranks are stopped, and for the server to miss such a rank first: it knows
// more.
constexpr Nanoseconds kBetweenLooks = std::chrono::milliseconds(500);
constexpr Nanoseconds kServerFirst = std::chrono::seconds(2);
// For pipes that something outside the ranks' process groups still holds open.
constexpr Nanoseconds kLastOutputWait = std::chrono::milliseconds(500);
// For a reader that does not read, once the run has failed.
constexpr Nanoseconds kFailedDeliveryWait = std::chrono::seconds(5);
// For the same reader, when whoever interrupts the run is impatient.
constexpr Nanoseconds kHurriedDeliveryWait = std::chrono::milliseconds(200);

comm::Verdict interruption(int rank, int signal_number) {
  comm::Verdict verdict;
  verdict.rank = rank;
  verdict.exit_code =
      static_cast<base::ExitCode>(static_cast<int>(base::ExitCode::signal_base) + signal_number);
  verdict.message =
      rank < 0 ? fmt::format("the run was interrupted by {} to one of its ranks", signal_name(signal_number))
               : fmt::format("rank {} was interrupted by {}", rank, signal_name(signal_number));
  return verdict;
}

}  // namespace

// Ranks that wind down together all exit alike: which of them was meant, only they know.
comm::Verdict verdict_about(const RankExit& exit) {
  if (const auto signal_number = interrupting_signal(exit.status))
    return interruption(exit.status.kind == ExitStatus::Kind::signalled ? exit.rank : -1, *signal_number);
  comm::Verdict verdict;
  verdict.rank = exit.rank;
  verdict.message = exit.rank == RankExit::kMpirun
                        ? "mpirun, which started the ranks, " + describe(exit.status)
                        : fmt::format("rank {} {}", exit.rank, describe(exit.status));
  return verdict;
}

Supervisor::Supervisor(const LaunchOptions& options, const SupervisorParts& parts)
    : options_(options), parts_(parts), ending_(parts.ranks) {
  if (options.time_limit > Nanoseconds(0)) time_limit_ = Deadline(options.time_limit);
  if (options.on_tick) next_tick_ = Deadline(kTickInterval);
}

LaunchResult Supervisor::run() {
  while (!parts_.ranks.all_ended() || awaits_verdict()) step();
  deliver_rest_of_output();
  if (options_.on_tick) options_.on_tick();
  if (!cause_) {
    // What the ranks wrote last may be what cannot be written: a full disk is found out here.
    deliver_own_words();
    notice_lost_output();
  }
  LaunchResult result = conclude();
  deliver_own_words();
  return result;
}

void Supervisor::step() {
  PollSet polls;
  parts_.signals.watch(polls);
  parts_.wake.watch(polls);
  parts_.ranks.watch(polls);
  parts_.pump.watch(polls);
  polls.wait(next_deadline());
  notice_signals();
  notice_exits();
  notice_verdict();
  notice_stopped();
  notice_time_limit();
  notice_lost_output();
  ending_.advance();
  tick();
}

void Supervisor::tick() {
  if (!next_tick_ || !next_tick_->passed()) return;
  options_.on_tick();
  next_tick_ = Deadline(kTickInterval);
}

Deadline Supervisor::next_deadline() const {
  Deadline next(kLongestWait);
  for (const std::optional<Deadline>& other :
       {ending_.due(), verdict_due_, next_tick_, parts_.ranks.due(), cause_ ? std::nullopt : time_limit_})
    if (other && other->at() < next.at()) next = *other;
  return next;
}

void Supervisor::end_because(Cause cause, Nanoseconds moment) {
  if (cause_) return;
  cause_ = std::move(cause);
  verdict_due_.reset();
  ending_.begin(moment, grace_of(*cause_));
}

Nanoseconds Supervisor::grace_of(const Cause& cause) const {
  return cause.kind == Cause::Kind::signal ? std::max(options_.grace, options_.wind_down) : options_.grace;
}

void Supervisor::notice_signals() {
  while (const std::optional<int> signal_number = parts_.signals.next()) notice_signal(*signal_number);
}

// Ranks that may wind down still need each other, so the server does not end their run.
void Supervisor::notice_signal(int signal_number) {
  if (cause_ && cause_->kind == Cause::Kind::signal) {
    interrupted_again_ = true;
    ending_.kill_now();
  }
  if (!cause_ && options_.wind_down == Nanoseconds(0))
    parts_.server.end_run("the run was interrupted by " + signal_name(signal_number));
  end_because({Cause::Kind::signal, {}, signal_number}, Nanoseconds(0));
}

void Supervisor::notice_exits() {
  for (const RankExit& exit : parts_.ranks.collect()) notice_exit(exit);
}

void Supervisor::notice_exit(const RankExit& exit) {
  exits_[exit.rank] = exit.status;
  if (exit.status.ok() || cause_) return;
  if (!first_bad_exit_) {
    first_bad_exit_ = exit;
    verdict_due_ = Deadline(interrupting_signal(exit.status) ? std::max(kVerdictWait, options_.wind_down)
                                                             : kVerdictWait);
  }
  if (exit.rank != RankExit::kMpirun) return parts_.server.report_exit(exit.rank, describe(exit.status));
  comm::Verdict verdict = verdict_about(exit);
  parts_.server.end_run(verdict.message);
  end_because({Cause::Kind::failure, std::move(verdict), 0}, kMomentToEnd);
}

// Without one in time, the first bad exit speaks for itself.
void Supervisor::notice_verdict() {
  if (cause_) return;
  if (std::optional<comm::Verdict> verdict = parts_.server.verdict()) {
    const std::optional<ExitStatus> status = status_of(verdict->rank);
    const std::optional<int> signal_number = status ? interrupting_signal(*status) : std::nullopt;
    if (signal_number && verdict->exit_code == base::ExitCode::run_failed)
      verdict = interruption(verdict->rank, *signal_number);
    end_because({Cause::Kind::failure, *std::move(verdict), 0}, kMomentToEnd);
  }
  if (!cause_ && verdict_due_ && verdict_due_->passed())
    end_because({Cause::Kind::failure, verdict_about(*first_bad_exit_), 0}, kMomentToEnd);
}

// The server misses a rank that does not answer. One that has taken leave already, or that never speaks to it
// (engine torch), is seen here.
void Supervisor::notice_stopped() {
  if (cause_ || options_.timeout <= Nanoseconds(0) || !look_at_stopped_.passed()) return;
  look_at_stopped_ = Deadline(kBetweenLooks);
  std::map<int, base::TimePoint> still;
  for (const int rank : parts_.ranks.stopped()) {
    const auto before = stopped_since_.find(rank);
    still[rank] = before == stopped_since_.end() ? base::now() : before->second;
  }
  stopped_since_ = std::move(still);
  for (const auto& [rank, since] : stopped_since_) {
    if (base::now() - since < options_.timeout + kServerFirst) continue;
    comm::Verdict verdict;
    verdict.rank = rank;
    verdict.exit_code = base::ExitCode::timed_out;
    verdict.message = fmt::format(
        "rank {} has been stopped (state T) for {}. Next step: look at that process; it goes on with kill "
        "-CONT.",
        rank, base::format_duration(base::now() - since));
    parts_.server.end_run(verdict.message, verdict.exit_code);
    return end_because({Cause::Kind::failure, std::move(verdict), 0}, kMomentToEnd);
  }
}

void Supervisor::notice_time_limit() {
  if (cause_ || !time_limit_ || !time_limit_->passed()) return;
  comm::Verdict verdict;
  verdict.message = fmt::format("the run did not end within its time limit of {}; all ranks were ended",
                                base::format_duration(options_.time_limit));
  verdict.exit_code = base::ExitCode::timed_out;
  parts_.server.end_run(verdict.message);
  end_because({Cause::Kind::time_limit, std::move(verdict), 0}, kMomentToEnd);
}

// A closed standard output (EBADF) was the user's wish; nobody misses what goes there.
void Supervisor::notice_lost_output() {
  const int error_number = parts_.pump.output_error();
  if (cause_ || error_number == 0 || error_number == EBADF) return;
  parts_.server.end_run("the run's standard output cannot be written");
  end_because({Cause::Kind::output_lost, {}, error_number}, Nanoseconds(0));
}

void Supervisor::wait_for_output(Deadline deadline) {
  PollSet polls;
  parts_.signals.watch(polls);
  parts_.pump.watch(polls);
  polls.wait(deadline);
  if (parts_.signals.next()) interrupted_again_ = true;
}

// All ranks are gone, so their pipes end now, unless something that escaped from them holds one open.
void Supervisor::deliver_rest_of_output() {
  const Deadline deadline(kLastOutputWait);
  while (parts_.pump.streams_open() && !deadline.passed() && !interrupted_again_) wait_for_output(deadline);
  parts_.pump.close_streams();
}

// As long as the reader likes when all is well; a failed run does not wait for it, and one that was
// interrupted twice hardly: a reader that reads still gets the last word.
void Supervisor::deliver_own_words() {
  const bool in_a_hurry = interrupted_again_;
  const Deadline deadline(in_a_hurry ? kHurriedDeliveryWait
                          : cause_   ? kFailedDeliveryWait
                                     : Nanoseconds::max());
  while (!parts_.pump.drained() && !deadline.passed() && (in_a_hurry || !interrupted_again_))
    wait_for_output(deadline);
}

}  // namespace lockstep::launch
