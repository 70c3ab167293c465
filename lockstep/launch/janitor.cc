#include "lockstep/launch/janitor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "lockstep/launch/pipe.h"

namespace lockstep::launch {
namespace {

constexpr int kLineFd = 3;

// Out of the reach of what ends the launcher: the terminal's signals and those to its process group. No file
// of the launcher may stay open here: whoever reads its output waits for the last writer.
void detach(int line) {
  setsid();
  prctl(PR_SET_NAME, "lockstep-tidy");
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(signal_number, SIG_IGN);
  const int kept = fcntl(line, F_DUPFD, kLineFd + 1);
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
  dup2(kept, kLineFd);
  if (syscall(SYS_close_range, kLineFd + 1, ~0U, 0) == 0) return;
  for (int fd = kLineFd + 1; fd < 65536; ++fd) close(fd);
}

// Whether the owner said goodbye; else it is gone without a word.
bool owner_said_goodbye() {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(kLineFd, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

// What the owner had started may still be writing there: until the directory stays away.
void remove_for_good(const std::filesystem::path& directory) {
  constexpr int kMostTries = 100, kTriesToBeSure = 4;
  constexpr auto kBetween = std::chrono::milliseconds(50);
  std::error_code ignored;
  for (int tries = 0, absent = 0; tries < kMostTries && absent < kTriesToBeSure; ++tries) {
    absent = std::filesystem::exists(directory, ignored) ? 0 : absent + 1;
    std::filesystem::remove_all(directory, ignored);
    std::this_thread::sleep_for(kBetween);
  }
}

[[noreturn]] void be_janitor(int line, const std::filesystem::path& directory, pid_t group) {
  detach(line);
  if (!owner_said_goodbye()) {
    if (group > 0) kill(-group, SIGKILL);
    if (!directory.empty()) remove_for_good(directory);
  }
  _exit(0);
}

}  // namespace

Janitor::Janitor(const std::filesystem::path& directory, pid_t group) {
  Pipe line = make_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    line.write_end.reset();
    be_janitor(line.read_end.get(), directory, group);
  }
  line_ = std::move(line.write_end);
}

Janitor::~Janitor() {
  if (pid_ < 0) return;
  const char goodbye = 'g';
  [[maybe_unused]] const ssize_t ignored = write(line_.get(), &goodbye, 1);
  line_.reset();
  waitpid(pid_, nullptr, 0);
}

}  // namespace lockstep::launch
