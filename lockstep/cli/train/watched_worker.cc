#include "lockstep/cli/train/watched_worker.h"

#include <signal.h>
#include <unistd.h>

#include <optional>

#include "lockstep/base/exit_code.h"
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

// A worker that exits has said why, and which rank is to blame; one that is killed has not.
launch::LaunchResult result_of(const launch::ExitStatus& status, std::optional<int> interrupted_by,
                               const std::string& cause) {
  if (interrupted_by)
    return {code_of_signal(*interrupted_by),
            launch::LaunchFailure{-1, "interrupted",
                                  "the run was interrupted by " + launch::signal_name(*interrupted_by)}};
  if (status.ok()) return {};
  const bool exited = status.kind == launch::ExitStatus::Kind::exited;
  const bool is_told = exited && !cause.empty();
  return {exited ? status.number : code_of_signal(status.number),
          launch::LaunchFailure{is_told ? comm::culprit_in(cause).value_or(0) : 0, kind_of(status),
                                is_told ? cause : "rank 0 " + launch::describe(status)}};
}

}  // namespace

launch::LaunchResult watch_worker(const WatchedWorkerOptions& options) {
  const launch::SignalWatch signals;
  OverheardErrors errors;
  launch::Process worker(process_options(options, errors.worker_end()));
  errors.worker_has_started();
  std::optional<int> interrupted_by;
  std::optional<base::Deadline> kill_at;
  while (!worker.status()) {
    launch::PollSet polls;
    signals.watch(polls);
    polls.watch(worker.poll_fd(), POLLIN, [](short) {});
    errors.watch(polls);
    polls.wait(base::Deadline(launch::kTickInterval));
    while (const std::optional<int> signal_number = signals.next()) {
      worker.signal_group(interrupted_by ? SIGKILL : SIGTERM);
      if (!interrupted_by) kill_at = base::Deadline(options.wind_down);
      interrupted_by = interrupted_by.value_or(*signal_number);
    }
    if (kill_at && kill_at->passed()) worker.signal_group(SIGKILL);
    if (options.on_tick) options.on_tick();
  }
  errors.finish();
  return result_of(*worker.status(), interrupted_by, errors.cause());
}

}  // namespace lockstep::cli
