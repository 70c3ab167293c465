// The whole program among strangers: it listens on loopback alone, and whoever connects to it is not noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/cli/program_run.h"
#include "tests/cli/started_program.h"
#include "tests/support/strangers.h"

namespace lockstep::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string maps_of(pid_t pid) {
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(pid) + "/maps").rdbuf();
  return text.str();
}

class AmongStrangers : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ProgramRun run = run_lockstep("backends --json");
    const std::size_t at = run.out.find("\"name\": \"" + GetParam() + "\",");
    ASSERT_NE(at, std::string::npos) << run.out;
    if (run.out.substr(at, run.out.find('}', at) - at).find("\"available\": true") == std::string::npos)
      GTEST_SKIP() << "backend " << GetParam() << " is absent here";
  }

  std::vector<std::string> bench(std::vector<std::string> flags) const {
    std::vector<std::string> command = {program_path(), "bench",      "allreduce", "--backend", GetParam(),
                                        "--workers",    workers_,     "-b",        "1M",        "-e",
                                        "1M",           "--progress", "lines"};
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  }

  Habitat habitat_;
  // Between eight ranks gloo opens 28 connections, which takes long enough for somebody to come between.
  const std::string workers_ = GetParam() == "gloo" ? "8" : "2";
};

// Looks again and again from the first moment: what listens while a run opens is gone when it runs.
TEST_P(AmongStrangers, nothing_of_a_run_on_one_host_listens_beyond_loopback) {
  StartedProgram program(habitat_, "program", bench({"-n", "100000000"}));
  std::set<std::string> seen, beyond;
  const auto look = [&] {
    std::vector<pid_t> processes = descendants_of(program.pid());
    processes.push_back(program.pid());
    for (const Listener& listener : listeners_of(processes)) {
      seen.insert(listener.address);
      if (!listener.loopback) beyond.insert(listener.address);
    }
  };
  EXPECT_TRUE(comes_true(
      [&] {
        look();
        return program.error().find("[1/1] all_reduce") != std::string::npos;
      },
      30s))
      << program.error();
  for (int i = 0; i < 50; ++i) look();
  kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.wait(10s).exit_code, 143) << program.error();
  EXPECT_FALSE(seen.empty());
  EXPECT_THAT(beyond, ::testing::IsEmpty());
}

class Scanned : public AmongStrangers {};

TEST_P(Scanned, a_scanner_of_all_its_ports_does_not_end_a_run) {
  for (int run = 0; run < 6; ++run) {
    StartedProgram program(habitat_, "program" + std::to_string(run), bench({"-n", "20"}));
    Scanner scanner(program.pid());
    const auto ending = program.wait(30s);
    EXPECT_TRUE(ending.in_time) << "run " << run;
    EXPECT_EQ(ending.exit_code, 0) << "run " << run << ": " << program.error();
    EXPECT_GT(scanner.stop(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, AmongStrangers, ::testing::Values("shm", "gloo", "mpi"),
                         [](const auto& backend) { return backend.param; });

INSTANTIATE_TEST_SUITE_P(Backends, Scanned, ::testing::Values("shm", "gloo"),
                         [](const auto& backend) { return backend.param; });

// Of a process that mpirun has just forked, everything is mpirun's still, its ports too.
std::vector<pid_t> ranks_of(pid_t mpirun) {
  std::vector<pid_t> ranks;
  for (const pid_t pid : descendants_of(mpirun)) {
    std::error_code gone;
    const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
    if (!gone && program.filename().string().starts_with("lockstep")) ranks.push_back(pid);
  }
  return ranks;
}

// mpirun itself is the user's, and listens where it likes.
TEST(UnderAForeignMpirun, ranks_on_one_host_listen_on_loopback_alone) {
  if (run_shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "no mpirun here";
  const Habitat habitat;
  StartedProgram mpirun(
      habitat, "mpirun",
      {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", program_path(), "bench", "allreduce",
       "--backend", "mpi", "-b", "1M", "-e", "1M", "-n", "100000000", "--progress", "lines"});
  std::set<std::string> beyond;
  EXPECT_TRUE(comes_true(
      [&] {
        for (const Listener& listener : listeners_of(ranks_of(mpirun.pid())))
          if (!listener.loopback) beyond.insert(listener.address);
        return mpirun.error().find("[1/1] all_reduce") != std::string::npos;
      },
      30s))
      << mpirun.error();
  kill(mpirun.pid(), SIGTERM);
  EXPECT_TRUE(mpirun.wait(10s).in_time);
  EXPECT_THAT(beyond, ::testing::IsEmpty());
}

// Who keeps a connection to mpirun's port and says nothing stops Open MPI, which asks for no key.
TEST(MpiInit, ends_at_the_join_timeout_when_strangers_hold_up_open_mpi) {
  if (run_shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "no mpirun here";
  const Habitat habitat;
  for (int run = 0; run < 6; ++run) {
    StartedProgram program(habitat, "program" + std::to_string(run),
                           {program_path(), "bench", "allreduce", "--backend", "mpi", "--workers", "2", "-b",
                            "4K", "-e", "4K", "-n", "20", "--join-timeout", "3s"});
    Scanner scanner(program.pid());
    const auto ending = program.wait(3s + 12s);
    const std::string said = program.error();
    EXPECT_TRUE(ending.in_time) << "run " << run << ": " << said;
    EXPECT_THAT(ending.exit_code, ::testing::AnyOf(0, 124)) << "run " << run << ": " << said;
    EXPECT_EQ(ending.exit_code == 124, said.find("error: rank") != std::string::npos) << said;
    EXPECT_GT(scanner.stop(), 0);
  }
}

// Of two ranks that mpirun starts, the one that is stopped as soon as it is about to initialise MPI.
TEST(MpiInit, ends_at_the_join_timeout_and_names_the_rank_that_is_stopped_inside_it) {
  if (run_shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "no mpirun here";
  const Habitat habitat;
  StartedProgram program(habitat, "program",
                         {program_path(), "bench", "allreduce", "--backend", "mpi", "--workers", "2", "-b",
                          "4K", "-e", "4K", "--join-timeout", "3s", "--timeout", "60s"});
  std::map<int, pid_t> ranks;
  ASSERT_TRUE(comes_true([&] { return (ranks = ranks_in(habitat)).contains(1); }, 20s)) << program.error();
  const pid_t rank = ranks[1];
  // What is loaded first of all inside.
  ASSERT_TRUE(comes_true([&] { return maps_of(rank).find("/mca_pmix_") != std::string::npos; }, 20s));
  kill(rank, SIGSTOP);
  const auto ending = program.wait(3s + 7s);
  EXPECT_TRUE(ending.in_time) << program.error();
  EXPECT_EQ(ending.exit_code, 124) << program.error();
  EXPECT_THAT(program.error(),
              AllOf(HasSubstr("error: rank 1 does not answer (stopped"), HasSubstr("MPI_Init")));
  EXPECT_TRUE(comes_true([&] { return habitat.inhabitants().empty(); }, 5s)) << "a process is left";
}

}  // namespace
}  // namespace lockstep::testing
