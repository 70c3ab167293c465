#include "tests/comm/rendezvous/forked_ranks.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace lockstep::comm::testing {
namespace {

int run_child(int rank, int errors, const std::function<int(int)>& body) {
  ::dup2(errors, STDERR_FILENO);
  try {
    return body(rank);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uncaught: %s\n", error.what());
    return 99;
  }
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ForkedRanks::ForkedRanks(int count, const std::function<int(int)>& body) {
  for (int rank = 0; rank < count; ++rank) {
    const int errors = ::memfd_create("errors", 0);
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) ::_exit(run_child(rank, errors, body));
    children_.push_back({pid, errors, std::nullopt});
  }
}

ForkedRanks::~ForkedRanks() {
  for (Child& child : children_) {
    if (!child.exit_code) {
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
    }
    ::close(child.errors);
  }
}

void ForkedRanks::signal(int rank, int number) const {
  ::kill(children_[static_cast<std::size_t>(rank)].pid, number);
}

std::optional<int> ForkedRanks::wait(int rank, base::Nanoseconds patience) {
  Child& child = children_[static_cast<std::size_t>(rank)];
  eventually(
      [&child] {
        int status = 0;
        if (!child.exit_code && ::waitpid(child.pid, &status, WNOHANG) == child.pid)
          child.exit_code = exit_code_of(status);
        return child.exit_code.has_value();
      },
      patience);
  return child.exit_code;
}

std::string ForkedRanks::errors_of(int rank) const {
  const int fd = children_[static_cast<std::size_t>(rank)].errors;
  std::string text(64 * 1024, '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

SharedCounter::SharedCounter() {
  void* memory =
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
  value_ = new (memory) std::atomic<int>(0);
}

SharedCounter::~SharedCounter() {
  ::munmap(value_, sizeof(std::atomic<int>));
}

bool eventually(const std::function<bool()>& condition, base::Nanoseconds patience) {
  const base::Deadline deadline(patience);
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "lockstep-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockstep::comm::testing
