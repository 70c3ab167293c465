#include "tests/cli/started_program.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "lockstep/base/unique_fd.h"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarkName = "LOCKSTEP_TEST_HABITAT";

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) processes.push_back(pid);
  }
  return processes;
}

void redirect(int descriptor, const fs::path& file) {
  dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
}

// The child's side: its own process group, so that a test's signals reach nobody else.
[[noreturn]] void become(std::vector<std::string> command, const Environment& environment,
                         const fs::path& directory) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  redirect(STDOUT_FILENO, directory / "out");
  redirect(STDERR_FILENO, directory / "err");
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  _exit(127);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool bind_to(const base::UniqueFd& socket_fd, int port) {
  const int yes = 1;
  setsockopt(socket_fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  return bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Habitat::Habitat() {
  std::string pattern = (fs::temp_directory_path() / "lockstep-habitat-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
  mark_ = path_.filename().string();
  for (const char* part : {"home", "tmp", "run"}) fs::create_directory(path_ / part);
  fs::permissions(path_ / "run", fs::perms::owner_all);
}

Habitat::~Habitat() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<pid_t> Habitat::inhabitants() const {
  std::vector<pid_t> found;
  for (const pid_t pid : all_processes())
    if (variable_of(pid, kMarkName) == mark_) found.push_back(pid);
  return found;
}

std::vector<std::string> Habitat::files() const {
  std::vector<std::string> found;
  for (const char* part : {"home", "tmp", "run"})
    for (const auto& entry : fs::recursive_directory_iterator(path_ / part))
      if (!entry.is_directory()) found.push_back(fs::relative(entry.path(), path_).string());
  std::error_code no_store;
  for (const auto& entry : fs::directory_iterator(path_ / "store", no_store))
    if (entry.path().filename().string().starts_with("meeting-"))
      found.push_back(fs::relative(entry.path(), path_).string());
  return found;
}

StartedProgram::StartedProgram(const Habitat& habitat, const std::string& name,
                               const std::vector<std::string>& command, const Environment& extra)
    : directory_(habitat.path() / name) {
  fs::create_directory(directory_);
  Environment environment = {{"HOME", (habitat.path() / "home").string()},
                             {"TMPDIR", (habitat.path() / "tmp").string()},
                             {"XDG_RUNTIME_DIR", (habitat.path() / "run").string()},
                             {"LOCKSTEP_STORE", (habitat.path() / "store").string()},
                             {kMarkName, habitat.mark()}};
  environment.insert(extra.begin(), extra.end());
  pid_ = fork();
  if (pid_ == 0) become(command, environment, directory_);
}

StartedProgram::~StartedProgram() {
  if (ended_) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

StartedProgram::Ending StartedProgram::wait(base::Nanoseconds limit) {
  int status = 0;
  Ending ending;
  ending.in_time = comes_true([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, limit);
  if (!ending.in_time) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  ended_ = true;
  ending.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ending;
}

std::string StartedProgram::output() const {
  return contents(directory_ / "out");
}

std::string StartedProgram::error() const {
  return contents(directory_ / "err");
}

bool StartedProgram::await_error(const std::string& words) const {
  return comes_true([&] { return error().find(words) != std::string::npos; }, std::chrono::seconds(30));
}

std::string program_path() {
  return LOCKSTEP_PROGRAM;
}

std::string variable_of(pid_t pid, const std::string& name) {
  const std::string block = '\0' + contents("/proc/" + std::to_string(pid) + "/environ");
  const std::string wanted = '\0' + name + "=";
  const std::size_t at = block.find(wanted);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + wanted.size();
  return block.substr(begin, block.find('\0', begin) - begin);
}

// The launcher itself, mpirun and its helpers have no rank.
std::map<int, pid_t> ranks_in(const Habitat& habitat) {
  std::map<int, pid_t> ranks;
  for (const pid_t pid : habitat.inhabitants())
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK"})
      if (const std::string rank = variable_of(pid, name); !rank.empty()) ranks[std::stoi(rank)] = pid;
  return ranks;
}

int free_port() {
  const base::UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  if (!bind_to(probe, 0) || getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0)
    throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

bool is_free(int port) {
  const base::UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return bind_to(probe, port);
}

void short_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace lockstep::testing
