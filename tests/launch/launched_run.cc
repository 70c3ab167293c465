#include "tests/launch/launched_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "lockstep/base/clock.h"

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

// The probes lie beside the test program.
std::string program(const std::string& name) {
  return (fs::read_symlink("/proc/self/exe").parent_path() / name).string();
}

bool wait_until(const std::function<bool()>& condition) {
  const base::Deadline deadline(std::chrono::seconds(30));
  while (!condition()) {
    if (deadline.passed()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string with_directory(std::string text, const fs::path& directory) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
    text.replace(at, 1, directory.string());
  return text;
}

void redirect(int descriptor, const fs::path& file) {
  dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
}

char state_of(pid_t pid) {
  const std::string text = text_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '-' : text.at(name_end + 2);
}

}  // namespace

LaunchedRun::LaunchedRun(std::vector<std::string> settings, std::vector<std::string> actions)
    : start_(std::chrono::steady_clock::now()) {
  std::vector<std::string> command = {program("launch_probe"), "logs=" + (directory() / "logs").string()};
  command.insert(command.end(), settings.begin(), settings.end());
  command.insert(command.end(), {"--", program("rank_probe")});
  for (const std::string& action : actions) command.push_back(with_directory(action, directory()));
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  redirect(STDOUT_FILENO, directory() / "out");
  redirect(STDERR_FILENO, directory() / "err");
  execv(argv.front(), argv.data());
  _exit(127);
}

LaunchedRun::~LaunchedRun() {
  if (waited_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void LaunchedRun::signal(int number) const {
  kill(pid_, number);
}

LaunchedRun::Result LaunchedRun::wait() {
  int status = 0;
  waited_ = wait_until([&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
  EXPECT_TRUE(waited_) << "the launcher did not end";
  Result result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = text_of(directory() / "out");
  result.error = text_of(directory() / "err");
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return result;
}

std::string LaunchedRun::await_file(const std::string& name) const {
  EXPECT_TRUE(wait_until([&] { return fs::exists(directory() / name); })) << name;
  return text_of(directory() / name);
}

void LaunchedRun::make_file(const std::string& name) const {
  std::ofstream(directory() / name) << "";
}

std::vector<pid_t> LaunchedRun::rank_pids(int world) const {
  std::vector<pid_t> pids;
  for (int rank = 0; rank < world; ++rank) pids.push_back(std::stoi(await_file(std::to_string(rank))));
  return pids;
}

LaunchedRun::Result run_ranks(std::vector<std::string> settings, std::vector<std::string> actions) {
  return LaunchedRun(std::move(settings), std::move(actions)).wait();
}

bool vanishes_soon(const fs::path& path) {
  return wait_until([&path] { return !fs::exists(path); });
}

bool ends_soon(pid_t pid) {
  return wait_until([pid] { return state_of(pid) == '-' || state_of(pid) == 'Z'; });
}

}  // namespace lockstep::launch
