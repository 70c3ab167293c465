#include "lockstep/cli/captured_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/launch/pipe.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_environment.h"

namespace lockstep::cli {
namespace {

// Until the other end closes or the deadline passes.
std::string read_all(int fd, base::Deadline deadline) {
  std::string text;
  std::array<char, 16 * 1024> bytes;
  pollfd watched{fd, POLLIN, 0};
  while (!deadline.passed() && ::poll(&watched, 1, deadline.left_milliseconds()) > 0) {
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

}  // namespace

std::string output_of(const std::vector<std::string>& command, const std::string& what,
                      base::Nanoseconds limit) {
  const base::Deadline deadline(limit);
  launch::Pipe output = launch::make_pipe();
  launch::ProcessOptions options;
  options.command = command;
  options.environment = launch::current_variables();
  options.output_fd = output.write_end.get();
  options.error_fd = STDERR_FILENO;
  launch::Process process(options);
  output.write_end.reset();
  std::string text = read_all(output.read_end.get(), deadline);
  await_end(process, deadline);
  if (!process.status())
    throw base::DeviceError(fmt::format("{} did not end within {}", what, base::format_duration(limit)));
  if (!process.status()->ok())
    throw base::DeviceError(fmt::format("{} {}", what, launch::describe(*process.status())));
  return text;
}

}  // namespace lockstep::cli
