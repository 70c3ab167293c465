#include "lockstep/cli/train/watched_worker.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "lockstep/base/exit_code.h"
#include "lockstep/base/log.h"
#include "lockstep/base/units.h"
#include "lockstep/cli/train/overheard_errors.h"
#include "lockstep/comm/rendezvous/verdict.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/signals.h"

namespace lockstep::cli {
namespace {

launch::ProcessOptions process_options(const WatchedWorkerOptions& options, int error_fd) {
  launch::ProcessOptions process;
  process.command = options.command;
  process.environment = options.environment;
  process.output_fd = STDOUT_FILENO;
  process.error_fd = error_fd;
  return process;
}

int code_of_signal(int signal_number) {
  return static_cast<int>(base::ExitCode::signal_base) + signal_number;
}

std::string kind_of(const launch::ExitStatus& status) {
  if (status.kind != launch::ExitStatus::Kind::exited) return "killed";
  return status.number == static_cast<int>(base::ExitCode::timed_out) ? "timed_out" : "exited";
}

// A signal that we got and handed on.
struct Received {
  int number = 0;
  int rank = -1;  // 0: whoever sent it did not start us, and so meant this rank
};

launch::LaunchResult interrupted(const Received& by, const std::string& cause) {
  return {code_of_signal(by.number),
          launch::LaunchFailure{
              by.rank, "interrupted",
              cause.empty() ? "the run was interrupted by " + launch::signal_name(by.number) : cause}};
}

// A worker that exits has said why, and which rank is to blame; one that is killed has not.
launch::LaunchResult result_of(const launch::ExitStatus& status, const std::optional<Received>& received,
                               const std::string& cause) {
  if (received) return interrupted(*received, "");
  if (status.ok()) return {};
  // Another rank may have been meant, or the worker alone.
  if (const auto number = launch::interrupting_signal(status))
    return interrupted({*number, comm::culprit_in(cause).value_or(-1)}, cause);
  const bool exited = status.kind == launch::ExitStatus::Kind::exited;
  const bool is_told = exited && !cause.empty();
  return {exited ? status.number : code_of_signal(status.number),
          launch::LaunchFailure{is_told ? comm::culprit_in(cause).value_or(0) : 0, kind_of(status),
                                is_told ? cause : "rank 0 " + launch::describe(status)}};
}

// Nobody else ends it: where this rank serves the run, whoever would notice is stopped with it.
launch::LaunchResult stopped_too_long(base::Nanoseconds limit) {
  const std::string message = fmt::format(
      "rank 0 does not answer (stopped): it was in state T for {}. Next step: look at who stopped "
      "it; a stopped process goes on with kill -CONT.",
      base::format_duration(limit));
  base::log_info("error: " + message);
  return {static_cast<int>(base::ExitCode::timed_out), launch::LaunchFailure{0, "timed_out", message}};
}

}  // namespace

launch::LaunchResult watch_worker(const WatchedWorkerOptions& options) {
  const launch::SignalWatch signals;
  OverheardErrors errors;
  launch::Process worker(process_options(options, errors.worker_end()));
  errors.worker_has_started();
  std::optional<Received> received;
  std::optional<base::Deadline> kill_at;
  base::TimePoint last_running = base::now();
  bool given_up = false;
  while (!worker.status()) {
    launch::PollSet polls;
    signals.watch(polls);
    polls.watch(worker.poll_fd(), POLLIN, [](short) {});
    errors.watch(polls);
    polls.wait(base::Deadline(launch::kTickInterval));
    while (const std::optional<int> signal_number = signals.next()) {
      worker.signal_group(received ? SIGKILL : SIGTERM);
      if (!received) kill_at = base::Deadline(options.wind_down);
      received = received.value_or(
          Received{*signal_number, options.by_hand || signals.sender() != ::getppid() ? 0 : -1});
    }
    if (!launch::is_stopped(worker.pid())) last_running = base::now();
    given_up = given_up || base::now() - last_running >= options.stopped_limit;
    if ((kill_at && kill_at->passed()) || given_up) worker.signal_group(SIGKILL);
    if (options.on_tick) options.on_tick();
  }
  errors.finish();
  if (given_up) return stopped_too_long(options.stopped_limit);
  return result_of(*worker.status(), received, errors.cause());
}

}  // namespace lockstep::cli
