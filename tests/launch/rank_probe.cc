// A rank for tests. Its arguments are actions, done in their order; "1:exit=3" is done by rank 1 only.
//   out=TEXT err=TEXT   a line to standard output or error       raw=TEXT     the same without its end
//   env=NAME            prints a variable                        cpus         prints the cores it may use
//   pid=DIR             writes its process number to DIR/RANK    await=FILE   waits until the file exists
//   sleep=SECONDS  exit=CODE  kill=SIGNAL (itself)  ignore=SIGNAL  fill=BYTES (of standard output)
//   join  goodbye  fail=TEXT (reported to the run's server)
//   unheard=RANK        that rank is killed before the launcher has heard of it; stillborn=RANK before it is
//   seen where=DIR           writes the launcher's private directory to DIR/where
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/comm/rendezvous/run_client.h"
#include "lockstep/launch/rank_output.h"

namespace {

using lockstep::base::environment;

void print(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count <= 0) _exit(99);
    done += static_cast<std::size_t>(count);
  }
}

std::string own_rank() {
  return environment("RANK").value_or(environment("OMPI_COMM_WORLD_RANK").value_or("none"));
}

void print_cpus() {
  cpu_set_t set;
  std::string text = "cpus";
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) text += " " + std::to_string(cpu);
  print(STDOUT_FILENO, text + "\n");
}

// Whole or absent: a test that sees the file can read it.
void write_file(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path draft = file.string() + ".draft";
  std::ofstream(draft) << text;
  std::filesystem::rename(draft, file);
}

void await_file(const std::string& file) {
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// This rank's part in the run, once it has joined.
struct Membership {
  lockstep::comm::OperationBoards boards;
  std::unique_ptr<lockstep::comm::RunClient> client;

  void join() {
    const lockstep::comm::Identity identity = lockstep::comm::find_identity({}).value();
    lockstep::comm::RunClientOptions options;
    options.address = identity.master_addr;
    options.port = identity.master_port;
    options.rank = identity.group.rank;
    options.world = identity.group.world;
    options.key = identity.key;
    client = std::make_unique<lockstep::comm::RunClient>(options, boards);
  }
  void fail(const std::string& text) { client->report_failure(lockstep::base::VerificationError(text)); }
};

using Action = std::function<void(const std::string&)>;

std::map<std::string, Action> actions(const std::string& private_directory, Membership& member) {
  return {
      {"out", [](const std::string& text) { print(STDOUT_FILENO, text + "\n"); }},
      {"err", [](const std::string& text) { print(STDERR_FILENO, text + "\n"); }},
      {"raw", [](const std::string& text) { print(STDOUT_FILENO, text); }},
      {"fill", [](const std::string& bytes) { print(STDOUT_FILENO, std::string(std::stoul(bytes), 'x')); }},
      {"env",
       [](const std::string& name) {
         print(STDOUT_FILENO, name + "=" + environment(name).value_or("") + "\n");
       }},
      {"cpus", [](const std::string&) { print_cpus(); }},
      {"pid", [](const std::string& dir) { write_file(dir + "/" + own_rank(), std::to_string(getpid())); }},
      {"where", [=](const std::string& dir) { write_file(dir + "/where", private_directory); }},
      {"join", [&member](const std::string&) { member.join(); }},
      {"goodbye", [&member](const std::string&) { member.client->goodbye(); }},
      {"fail", [&member](const std::string& text) { member.fail(text); }},
      {"await", await_file},
      {"sleep",
       [](const std::string& s) {
         std::this_thread::sleep_for(std::chrono::duration<double>(std::stod(s)));
       }},
      {"kill", [](const std::string& number) { kill(getpid(), std::stoi(number)); }},
      {"ignore", [](const std::string& number) { signal(std::stoi(number), SIG_IGN); }},
      {"exit", [](const std::string& code) { std::exit(std::stoi(code)); }},
      {"unheard", [](const std::string&) {}},  // done already
      {"stillborn", [](const std::string&) {}},
  };
}

void act(std::string text, const std::map<std::string, Action>& known) {
  if (const std::size_t colon = text.find(':'); colon != std::string::npos && colon <= 2) {
    if (text.substr(0, colon) != own_rank()) return;
    text.erase(0, colon + 1);
  }
  const std::size_t equals = std::min(text.find('='), text.size());
  known.at(text.substr(0, equals))(equals < text.size() ? text.substr(equals + 1) : "");
}

// As a rank dies whose program is still being loaded.
void die_unheard(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == "stillborn=" + own_rank()) kill(getpid(), SIGKILL);
    if (argv[i] != "unheard=" + own_rank()) continue;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    kill(getpid(), SIGKILL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string private_directory = environment(lockstep::launch::kRankOutputVariable).value_or("");
  die_unheard(argc, argv);
  lockstep::launch::adopt_rank_output();
  Membership member;
  const auto known = actions(private_directory, member);
  for (int i = 1; i < argc; ++i) act(argv[i], known);
  return 0;
}
