// The end of a run: what the supervisor says about it, and the exit code.
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/launch/failure_report.h"
#include "lockstep/launch/supervisor.h"

namespace lockstep::launch {
namespace {

int code_of_signal(int signal_number) {
  return static_cast<int>(base::ExitCode::signal_base) + signal_number;
}

}  // namespace

LaunchResult Supervisor::conclude() {
  if (!cause_ && first_bad_exit_) cause_ = Cause{Cause::Kind::failure, verdict_about(*first_bad_exit_), 0};
  if (!cause_) {
    say_starter_output();
    return {};
  }
  say_cause(*cause_);
  return {exit_code_for(*cause_), failure_for(*cause_)};
}

LaunchFailure Supervisor::failure_for(const Cause& cause) const {
  switch (cause.kind) {
    case Cause::Kind::signal:
      return {-1, kind_of(cause), "the run was interrupted by " + signal_name(cause.number)};
    case Cause::Kind::output_lost:
      return {-1, kind_of(cause), "standard output could not be written: " + base::errno_text(cause.number)};
    default:
      return {cause.verdict.rank, kind_of(cause), cause.verdict.message};
  }
}

std::string Supervisor::kind_of(const Cause& cause) const {
  if (cause.kind == Cause::Kind::signal || cause.verdict.exit_code > base::ExitCode::signal_base)
    return "interrupted";
  if (cause.kind == Cause::Kind::output_lost) return "output_lost";
  if (cause.verdict.exit_code == base::ExitCode::timed_out) return "timed_out";
  const std::optional<ExitStatus> status = status_of(cause.verdict.rank);
  if (!status || status->kind == ExitStatus::Kind::exited) return "exited";
  return status->kind == ExitStatus::Kind::never_started ? "never_started" : "killed";
}

void Supervisor::say_cause(const Cause& cause) {
  switch (cause.kind) {
    case Cause::Kind::failure:
    case Cause::Kind::time_limit:
      if (cause.verdict.exit_code > base::ExitCode::signal_base)
        return parts_.pump.say(cause.verdict.message + ": all ranks were ended");
      return say_failure(cause.verdict);
    case Cause::Kind::signal:
      return parts_.pump.say(
          fmt::format("interrupted by {}: all ranks were ended", signal_name(cause.number)));
    case Cause::Kind::output_lost:
      if (cause.number != EPIPE)
        parts_.pump.say("error: standard output cannot be written: " + base::errno_text(cause.number));
  }
}

void Supervisor::say_failure(const comm::Verdict& verdict) {
  const std::optional<ExitStatus> status = status_of(verdict.rank);
  const std::vector<std::string> last_lines = last_lines_of(verdict.rank);
  if (status && has_explained_itself(*status, last_lines)) return;
  if (verdict.rank < 0 || (status && status->kind == ExitStatus::Kind::never_started)) say_starter_output();
  FailureFacts facts;
  facts.message = verdict.message;
  facts.rank = verdict.rank;
  facts.last_lines = last_lines;
  facts.collateral = verdict.rank < 0 ? std::vector<int>() : collateral_of(verdict.rank);
  if (logs_exist()) facts.log_directory = parts_.pump.log_directory();
  for (const std::string& line : failure_report(facts)) parts_.pump.say(line);
}

void Supervisor::say_starter_output() {
  for (const std::string& line : base::split(base::trim(parts_.ranks.starter_output()), '\n'))
    parts_.pump.say("[mpirun] " + line);
}

int Supervisor::exit_code_for(const Cause& cause) const {
  switch (cause.kind) {
    case Cause::Kind::signal:
      return code_of_signal(cause.number);
    case Cause::Kind::output_lost:
      return cause.number == EPIPE ? code_of_signal(SIGPIPE) : static_cast<int>(base::ExitCode::run_failed);
    default:
      return exit_code_of_failure(static_cast<int>(cause.verdict.exit_code), status_of(cause.verdict.rank));
  }
}

std::optional<ExitStatus> Supervisor::status_of(int rank) const {
  const auto found = exits_.find(rank);
  return found == exits_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Supervisor::last_lines_of(int rank) const {
  if (rank < 0) return {};
  const auto& lines = parts_.pump.log(rank).last_lines();
  return {lines.begin(), lines.end()};
}

std::vector<int> Supervisor::collateral_of(int rank) const {
  std::vector<int> ranks;
  for (const auto& [other, status] : exits_)
    if (other >= 0 && other != rank && !status.ok()) ranks.push_back(other);
  return ranks;
}

bool Supervisor::logs_exist() const {
  for (int rank = 0; rank < options_.workers; ++rank)
    if (parts_.pump.log(rank).has_file()) return true;
  return false;
}

}  // namespace lockstep::launch
