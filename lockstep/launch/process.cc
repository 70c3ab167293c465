#include "lockstep/launch/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/launch/pipe.h"

namespace lockstep::launch {
namespace {

constexpr rlim_t kLeastStackBytes = 256 << 10;
constexpr rlim_t kUsualStackBytes = 8 << 20;
constexpr rlim_t kUsualOpenFiles = 1024;

void raise_limit(int which, rlim_t usual) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur >= usual) return;
  limit.rlim_cur = std::min(usual, limit.rlim_max);
  ::setrlimit(which, &limit);
}

constexpr int kFailureFd = 3;  // where the child tells why it could not become the program

// Everything the child needs, made before the fork: afterwards it may not allocate.
struct Prepared {
  explicit Prepared(const ProcessOptions& given) : options(given) {
    for (const auto& [name, value] : given.environment) variables.push_back(name + "=" + value);
    for (const std::string& argument : given.command) argv.push_back(const_cast<char*>(argument.c_str()));
    for (const std::string& variable : variables) envp.push_back(const_cast<char*>(variable.c_str()));
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }
  const ProcessOptions& options;
  pid_t launcher = getpid();
  std::vector<std::string> variables;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

[[noreturn]] void give_up(int failure_fd, int error_number) {
  [[maybe_unused]] const ssize_t ignored = write(failure_fd, &error_number, sizeof error_number);
  _exit(127);
}

// The launcher may have died before the child asked to die with it.
void die_with_launcher(pid_t launcher) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(127);
}

void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// First out of the way of 0 to 3, whatever numbers the descriptors had, then into place; all others are
// closed.
void arrange_descriptors(int output_fd, int error_fd, int failure_fd) {
  const int output = fcntl(output_fd, F_DUPFD, kFailureFd + 1);
  const int error = fcntl(error_fd, F_DUPFD, kFailureFd + 1);
  const int failure = fcntl(failure_fd, F_DUPFD, kFailureFd + 1);
  const int input = open("/dev/null", O_RDONLY);
  if (output < 0 || error < 0 || failure < 0 || input < 0) give_up(failure_fd, errno);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  dup3(failure, kFailureFd, O_CLOEXEC);
  if (syscall(SYS_close_range, kFailureFd + 1, ~0U, 0) == 0) return;
  for (int fd = kFailureFd + 1; fd < 65536; ++fd) close(fd);
}

[[noreturn]] void become_program(const Prepared& prepared, int failure_fd) {
  setpgid(0, 0);
  die_with_launcher(prepared.launcher);
  arrange_descriptors(prepared.options.output_fd, prepared.options.error_fd, failure_fd);
  pin_to(prepared.options.cpus.data(), prepared.options.cpus.size());
  reset_signals();
  execvpe(prepared.argv.front(), prepared.argv.data(), prepared.envp.data());
  give_up(kFailureFd, errno);
}

// What the child says before it becomes the program: nothing when all went well. It ends by exec or by exit.
std::optional<int> failure_of(int fd) {
  int error_number = 0;
  ssize_t count = 0;
  do {
    count = read(fd, &error_number, sizeof error_number);
  } while (count < 0 && errno == EINTR);
  return count == sizeof error_number ? std::optional(error_number) : std::nullopt;
}

ExitStatus status_of(const siginfo_t& info) {
  const bool exited = info.si_code == CLD_EXITED;
  return {exited ? ExitStatus::Kind::exited : ExitStatus::Kind::signalled, info.si_status};
}

}  // namespace

void raise_limits() {
  raise_limit(RLIMIT_STACK, kUsualStackBytes);
  raise_limit(RLIMIT_NOFILE, kUsualOpenFiles);
}

void require_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStackBytes) return;
  throw base::ConfigError(
      fmt::format("the stack of a process may grow to {} here (ulimit -s), and a rank needs {} at least; {} "
                  "are usual. Next "
                  "step: ulimit -s {}.",
                  base::format_bytes(limit.rlim_cur), base::format_bytes(kLeastStackBytes),
                  base::format_bytes(kUsualStackBytes), kUsualStackBytes / 1024));
}

base::UniqueFd open_pidfd(pid_t pid) {
  return base::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end).starts_with(") T");
}

bool pin_to(const int* cpus, std::size_t count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t i = 0; i < count; ++i)
    if (cpus[i] < CPU_SETSIZE) CPU_SET(cpus[i], &set);
  return count == 0 || sched_setaffinity(0, sizeof set, &set) == 0;
}

Process::Process(const ProcessOptions& options) {
  const Prepared prepared(options);
  Pipe failure = make_pipe();
  pid_ = fork();
  if (pid_ < 0)
    throw base::ConfigError("cannot start another process: " + base::errno_text() +
                            ". Ask for fewer workers or raise the limit of processes (ulimit -u).");
  if (pid_ == 0) become_program(prepared, failure.write_end.get());
  failure.write_end.reset();
  pidfd_ = open_pidfd(pid_);
  if (const std::optional<int> error_number = failure_of(failure.read_end.get())) {
    waitpid(pid_, nullptr, 0);
    throw base::ConfigError(
        fmt::format("cannot start '{}': {}", options.command.front(), base::errno_text(*error_number)));
  }
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), status_(other.status_) {}

Process::~Process() {
  if (pid_ < 0 || ended()) return;
  signal_group(SIGKILL);
  const base::Deadline deadline(std::chrono::seconds(2));
  while (!status() && !deadline.passed()) {
    pollfd end{pidfd_.get(), POLLIN, 0};
    poll(&end, 1, 10);
  }
}

// The group is swept while its leader is a zombie, which keeps anybody else from getting the number.
std::optional<ExitStatus> Process::status() {
  if (status_) return status_;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
    return std::nullopt;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  status_ = status_of(info);
  return status_;
}

void Process::signal_group(int signal_number) const {
  if (!ended()) kill(-pid_, signal_number);
}

}  // namespace lockstep::launch
