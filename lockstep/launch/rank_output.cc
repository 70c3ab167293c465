#include "lockstep/launch/rank_output.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_environment.h"

namespace lockstep::launch {
namespace {

[[noreturn]] void leave_without_launcher() {
  base::log_warning("this rank was started by a launcher that is gone; it ends");
  _exit(static_cast<int>(base::ExitCode::run_failed));
}

int rank_given_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    if (const std::optional<long> rank = base::environment_integer(name)) return static_cast<int>(*rank);
  throw base::ConfigError(
      std::string(kRankOutputVariable) +
      " is set, but no OMPI_COMM_WORLD_RANK: this process was not started by the launcher's mpirun. "
      "Unset the variable.");
}

// The parent of a process; nothing where /proc does not show it.
std::optional<long> parent_of(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || text.size() < name_end + 4) return std::nullopt;
  return std::strtol(text.c_str() + name_end + 4, nullptr, 10);
}

// Whether the launcher is among our ancestors, mpirun between us. Where that cannot be seen, it is believed.
bool launcher_is_above_mpirun(long launcher) {
  long ancestor = getppid();
  if (ancestor == launcher) return false;  // mpirun is gone, and the launcher has inherited us
  while (ancestor > 1) {
    const std::optional<long> parent = parent_of(ancestor);
    if (!parent || *parent == launcher) return true;
    ancestor = *parent;
  }
  return false;
}

// mpirun may have died before we asked to die with it.
void die_with_mpirun() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::optional<long> launcher = base::environment_integer(kLauncherPidVariable);
  if (launcher && !launcher_is_above_mpirun(*launcher)) leave_without_launcher();
}

// Without a reader, that is without the launcher, opening fails instead of waiting for ever.
base::UniqueFd open_for_writing(const std::filesystem::path& pipe) {
  base::UniqueFd fd(open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) leave_without_launcher();
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  return fd;
}

void replace(int descriptor, const std::filesystem::path& pipe) {
  dup2(open_for_writing(pipe).get(), descriptor);
}

void pin_rank(int rank) {
  const std::vector<int> cpus = decode_rank_cpus(base::environment(kRankCpusVariable).value_or(""), rank);
  if (!pin_to(cpus.data(), cpus.size()))
    base::log_warning("cannot pin this rank to its cores: " + base::errno_text());
}

// What is needed to say goodbye, kept until exit.
struct Farewell {
  pid_t pid;
  int rank;
  base::UniqueFd word;
};

// Of this process, where it is a rank of mpirun.
Farewell* own_farewell = nullptr;

void send(const base::UniqueFd& pipe, const RankWord& word) {
  const std::string line = encode(word);
  [[maybe_unused]] const ssize_t ignored = write(pipe.get(), line.data(), line.size());
}

// A child that the rank forked leaves through here too, and must not speak for it.
void say_farewell(int code, void* argument) {
  const std::unique_ptr<Farewell> farewell(static_cast<Farewell*>(argument));
  if (farewell->pid == getpid()) send(farewell->word, {RankWord::Kind::exit, farewell->rank, code & 0xff});
}

}  // namespace

void adopt_rank_output() {
  const std::optional<std::string> directory = base::environment(kRankOutputVariable);
  if (!directory) return;
  const int rank = rank_given_by_mpirun();
  die_with_mpirun();
  replace(STDOUT_FILENO, output_pipe(*directory, rank));
  replace(STDERR_FILENO, error_pipe(*directory, rank));
  pin_rank(rank);
  auto farewell =
      std::make_unique<Farewell>(Farewell{getpid(), rank, open_for_writing(word_pipe(*directory))});
  send(farewell->word, {RankWord::Kind::start, rank, getpid()});
  own_farewell = farewell.release();
  on_exit(say_farewell, own_farewell);
  unsetenv(kRankOutputVariable);  // what this rank starts is not a rank
}

void leave_rank(int code) {
  if (own_farewell != nullptr)
    send(own_farewell->word, {RankWord::Kind::exit, own_farewell->rank, code & 0xff});
  _exit(code);
}

}  // namespace lockstep::launch
