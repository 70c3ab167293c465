#include "tests/support/ranks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::testing {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::filesystem::path make_directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp: " + base::errno_text());
  return pattern;
}

// The child's whole life: the body, its message into a file, and the exit code.
[[noreturn]] void be_rank(int rank, int world, const std::filesystem::path& directory,
                          const std::function<void(Rank&)>& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 0;
  try {
    FileStore store(directory);
    Rank self{{rank, world, rank, world, "testhost"}, store};
    body(self);
  } catch (const std::exception& error) {
    std::ofstream(directory / ("message" + std::to_string(rank))) << error.what();
    code = 1;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

RankResult result_of(int status, const std::filesystem::path& message_file) {
  RankResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.message = read_file(message_file);
  return result;
}

// Waits for one child until the deadline, then kills it.
int wait_for(pid_t child, base::Deadline deadline) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (deadline.passed()) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

}  // namespace

std::filesystem::path FileStore::path_of(const std::string& key) const {
  std::string name = "key-" + key;
  for (char& c : name)
    if (c == '/') c = '+';
  return directory_ / name;
}

void FileStore::set(const std::string& key, const std::string& value) {
  const std::filesystem::path target = path_of(key);
  static std::atomic<int> count{0};  // ranks may be threads
  const std::filesystem::path temporary =
      target.string() + ".new" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  std::ofstream(temporary, std::ios::binary) << value;
  std::filesystem::rename(temporary, target);
}

std::string FileStore::get(const std::string& key, base::Deadline deadline) {
  const std::filesystem::path path = path_of(key);
  while (!std::filesystem::exists(path)) {
    if (deadline.passed())
      throw base::CommError(base::CommError::Kind::timed_out, "nobody set the key " + key);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return read_file(path);
}

std::int64_t FileStore::add(const std::string& key, std::int64_t amount) {
  const base::UniqueFd lock(::open((directory_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  ::flock(lock.get(), LOCK_EX);
  const std::filesystem::path path = path_of(key);
  const std::int64_t value = (std::filesystem::exists(path) ? std::stoll(read_file(path)) : 0) + amount;
  set(key, std::to_string(value));
  return value;
}

std::vector<RankResult> run_ranks(int world, const std::function<void(Rank&)>& body,
                                  base::Nanoseconds limit) {
  const std::filesystem::path directory = make_directory();
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int rank = 0; rank < world; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) be_rank(rank, world, directory, body);
    children.push_back(child);
  }
  const base::Deadline deadline(limit);
  std::vector<RankResult> results;
  for (int rank = 0; rank < world; ++rank)
    results.push_back(result_of(wait_for(children[static_cast<std::size_t>(rank)], deadline),
                                directory / ("message" + std::to_string(rank))));
  std::filesystem::remove_all(directory);
  return results;
}

void expect_ranks_succeed(int world, const std::function<void(Rank&)>& body, base::Nanoseconds limit) {
  const std::vector<RankResult> results = run_ranks(world, body, limit);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    EXPECT_EQ(results[rank].exit_code, 0)
        << "rank " << rank << " of " << world << ": " << results[rank].message;
    EXPECT_EQ(results[rank].signal, 0) << "rank " << rank << " of " << world << ": " << results[rank].message;
  }
}

bool full_matrix() {
  return base::environment("LOCKSTEP_TEST_FULL").has_value();
}

void check(bool condition, const std::string& text) {
  if (!condition) throw std::runtime_error(text);
}

}  // namespace lockstep::testing
