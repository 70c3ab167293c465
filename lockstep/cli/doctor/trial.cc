#include "lockstep/cli/doctor/trial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <exception>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t kMostOutput = 16 * 1024;
constexpr int kCannotStart = 127;

struct Child {
  pid_t pid;
  base::UniqueFd output;
};

// The child leads a process group of its own, so that whatever it starts can be ended with it.
Child start(const std::function<void(int output)>& in_child) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw base::StoreError("no pipe can be made: " + base::errno_text());
  base::UniqueFd reading(ends[0]), writing(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) throw base::StoreError("no process can be started: " + base::errno_text());
  if (pid == 0) {
    ::setpgid(0, 0);
    std::signal(SIGPIPE, SIG_DFL);
    in_child(writing.get());
    ::_exit(kCannotStart);
  }
  ::setpgid(pid, pid);
  return {pid, std::move(reading)};
}

// Reads until the other end closes or the deadline passes.
std::string read_all(int fd, base::Deadline deadline) {
  std::string text;
  std::array<char, 4096> piece{};
  pollfd watched{fd, POLLIN, 0};
  while (!deadline.passed() && ::poll(&watched, 1, deadline.left_milliseconds()) > 0) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count <= 0) break;
    if (text.size() < kMostOutput) text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::optional<int> wait_until(pid_t pid, base::Deadline deadline) {
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (deadline.passed()) return std::nullopt;
    ::usleep(1000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TrialResult finish(Child child, base::Nanoseconds limit) {
  const base::Deadline deadline(limit);
  TrialResult result;
  result.output = read_all(child.output.get(), deadline);
  const std::optional<int> code = wait_until(child.pid, deadline);
  ::kill(-child.pid, SIGKILL);  // also whatever it left behind
  if (!code) ::waitpid(child.pid, nullptr, 0);
  result.ended = code.has_value();
  result.exit_code = code.value_or(-1);
  return result;
}

void write_text(int fd, const std::string& text) {
  [[maybe_unused]] const ssize_t ignored = ::write(fd, text.data(), text.size());
}

void become_program(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(words[0], words.data());
  write_text(output, base::errno_text());
}

void run_body(const std::function<std::string()>& body, int output) {
  try {
    write_text(output, body());
    ::_exit(0);
  } catch (const std::exception& error) {
    write_text(output, error.what());
    ::_exit(1);
  }
}

}  // namespace

std::string TrialResult::complaint() const {
  if (!ended) return "no answer within the limit";
  const std::vector<std::string> lines = base::split(base::trim(output), '\n');
  return "exit code " + std::to_string(exit_code) + (lines.empty() ? "" : ": " + base::trim(lines.back()));
}

TrialResult try_program(const std::vector<std::string>& command, base::Nanoseconds limit) {
  return finish(start([&](int output) { become_program(command, output); }), limit);
}

TrialResult try_in_process(const std::function<std::string()>& body, base::Nanoseconds limit) {
  return finish(start([&](int output) { run_body(body, output); }), limit);
}

std::optional<std::string> find_program(const std::string& name) {
  for (const std::string& directory : base::split(base::environment("PATH").value_or("/usr/bin:/bin"), ':')) {
    const std::string file = directory + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

}  // namespace lockstep::cli
