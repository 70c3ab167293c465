#include "lockstep/cli/captured_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/base/units.h"
#include "lockstep/launch/pipe.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_environment.h"

namespace lockstep::cli {
namespace {

constexpr int kLookMilliseconds = 100;

void require_uninterrupted(const launch::SignalWatch* signals, const std::string& what) {
  const std::optional<int> signal = signals == nullptr ? std::nullopt : signals->next();
  if (signal)
    throw base::Error(static_cast<base::ExitCode>(static_cast<int>(base::ExitCode::signal_base) + *signal),
                      "interrupted; " + what + " was ended");
}

// Until the other end closes or the deadline passes.
std::string read_all(int fd, base::Deadline deadline, const launch::SignalWatch* signals,
                     const std::string& what) {
  std::string text;
  std::array<char, 16 * 1024> bytes;
  pollfd watched{fd, POLLIN, 0};
  while (!deadline.passed()) {
    require_uninterrupted(signals, what);
    if (::poll(&watched, 1, std::min(kLookMilliseconds, deadline.left_milliseconds())) <= 0) continue;
    const ssize_t count = ::read(fd, bytes.data(), bytes.size());
    if (count <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return text;
}

void await_end(launch::Process& process, base::Deadline deadline) {
  while (!process.status() && !deadline.passed()) {
    pollfd end{process.poll_fd(), POLLIN, 0};
    ::poll(&end, 1, 10);
  }
}

// Runs it with its messages going to `error_fd`.
Captured run_with(const std::vector<std::string>& command, const std::string& what, base::Nanoseconds limit,
                  int error_fd, const launch::SignalWatch* signals) {
  const base::Deadline deadline(limit);
  launch::Pipe output = launch::make_pipe();
  launch::ProcessOptions options;
  options.command = command;
  options.environment = launch::current_variables();
  options.output_fd = output.write_end.get();
  options.error_fd = error_fd;
  launch::Process process(options);
  output.write_end.reset();
  Captured run;
  run.output = read_all(output.read_end.get(), deadline, signals, what);
  await_end(process, deadline);
  if (!process.status())
    throw base::CommError(
        base::CommError::Kind::timed_out,
        fmt::format("{} did not end within {}. Next step: allow it more time, or look at what else "
                    "this machine does.",
                    what, base::format_duration(limit)));
  run.status = *process.status();
  return run;
}

std::string text_in(int fd) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(fd, 0, SEEK_END))), '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  return text;
}

}  // namespace

Captured capture(const std::vector<std::string>& command, const std::string& what, base::Nanoseconds limit,
                 const launch::SignalWatch* signals) {
  const base::UniqueFd messages(::memfd_create("messages", MFD_CLOEXEC));
  Captured run =
      run_with(command, what, limit, messages.get() >= 0 ? messages.get() : STDERR_FILENO, signals);
  if (messages.get() >= 0) run.error = text_in(messages.get());
  return run;
}

std::string output_of(const std::vector<std::string>& command, const std::string& what,
                      base::Nanoseconds limit) {
  Captured run = run_with(command, what, limit, STDERR_FILENO, nullptr);
  if (!run.status.ok()) throw base::DeviceError(fmt::format("{} {}", what, launch::describe(run.status)));
  return std::move(run.output);
}

}  // namespace lockstep::cli
