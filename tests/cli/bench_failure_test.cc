// The whole program when something happens to a rank: it ends in time, with one error that names the rank and
// the operation, and leaves nothing behind. For every backend between workers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <thread>

#include "lockstep/base/text.h"
#include "lockstep/base/unique_fd.h"
#include "tests/cli/program_run.h"
#include "tests/cli/started_program.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kDeadPeerLimit = 2s;  // what is promised
constexpr auto kSlack = 5s;  // beyond a timeout: the server asks everybody, and the machine may be busy
constexpr const char* kAnOperation = "(all_reduce|barrier) #[0-9]+";

// The private directory that a launcher made; its name has the launcher's process in it.
std::vector<fs::path> directories_of(pid_t launcher) {
  std::vector<fs::path> found;
  const std::string beginning = "lockstep-run-" + std::to_string(launcher) + "-";
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path());
  return found;
}

int count_of(const std::string& words, const std::string& text) {
  int count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

class BenchFailure : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ProgramRun run = run_lockstep("backends --json");
    const std::string entry = "\"name\": \"" + GetParam() + "\",";
    const std::size_t at = run.out.find(entry);
    ASSERT_NE(at, std::string::npos) << run.out;
    const std::string facts = run.out.substr(at, run.out.find('}', at) - at);
    if (facts.find("\"available\": true") == std::string::npos)
      GTEST_SKIP() << "backend " << GetParam() << " is absent here";
  }

  std::vector<std::string> bench(std::vector<std::string> flags) const {
    std::vector<std::string> command = {program_path(), "bench", "--backend", GetParam()};
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  }

  // A bench of three workers that would go on for minutes, and is in the middle of it.
  void start_long_bench(const std::string& timeout) {
    program_ =
        std::make_unique<StartedProgram>(habitat_, "program",
                                         bench({"allreduce", "--workers", "3", "-b", "1M", "-e", "1M", "-n",
                                                "100000000", "--timeout", timeout, "--progress", "lines"}));
    ASSERT_TRUE(program_->await_error("[1/1] all_reduce")) << program_->error();
    ranks_ = ranks_in(habitat_);
    EXPECT_EQ(directories_of(program_->pid()).size(), GetParam() == "mpi" ? 1U : 0U);
    ASSERT_EQ(ranks_.size(), 3U);
    port_ = std::stoi(variable_of(ranks_[0], "MASTER_PORT"));
    std::this_thread::sleep_for(300ms);  // past the warm-up
  }

  // Ranks with torchrun's variables, as in shells of their own; each with its own flags.
  void start_by_hand(const std::vector<std::vector<std::string>>& flags_of_ranks, int world) {
    port_ = free_port();
    for (std::size_t rank = 0; rank < flags_of_ranks.size(); ++rank)
      shells_.push_back(std::make_unique<StartedProgram>(
          habitat_, "shell" + std::to_string(rank), bench(flags_of_ranks[rank]),
          Environment{{"RANK", std::to_string(rank)},
                      {"WORLD_SIZE", std::to_string(world)},
                      {"MASTER_ADDR", "127.0.0.1"},
                      {"MASTER_PORT", std::to_string(port_)}}));
  }

  // All shells end with this code in time, and say between them one error, which is returned.
  std::string expect_shells_fail(int exit_code, base::Nanoseconds limit) {
    std::string said;
    const base::Deadline deadline(limit);
    for (const auto& shell : shells_) {
      const auto ending = shell->wait(std::max<base::Nanoseconds>(deadline.left(), 1ms));
      EXPECT_TRUE(ending.in_time) << shell->error();
      EXPECT_EQ(ending.exit_code, exit_code) << shell->error();
      said += shell->error();
    }
    EXPECT_EQ(count_of("error: ", said), 1) << said;
    return said;
  }

  void expect_nothing_left() {
    EXPECT_TRUE(comes_true([&] { return habitat_.inhabitants().empty(); }, 5s)) << "a process is left";
    EXPECT_TRUE(is_free(port_)) << "somebody still listens at port " << port_;
    EXPECT_THAT(habitat_.files(), IsEmpty());
    if (program_ == nullptr) return;
    EXPECT_TRUE(comes_true([&] { return directories_of(program_->pid()).empty(); }, 5s))
        << "the launcher's directory is left";
  }

  Habitat habitat_;
  std::unique_ptr<StartedProgram> program_;
  std::vector<std::unique_ptr<StartedProgram>> shells_;
  std::map<int, pid_t> ranks_;
  int port_ = 0;
};

TEST_P(BenchFailure, a_killed_rank_ends_the_run_within_two_seconds_and_is_named) {
  for (const int victim : {1, 0}) {
    ASSERT_NO_FATAL_FAILURE(start_long_bench("60s"));
    kill(ranks_[victim], SIGKILL);
    const auto ending = program_->wait(kDeadPeerLimit);
    const std::string said = program_->error();
    EXPECT_TRUE(ending.in_time) << said;
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_EQ(count_of("error: ", said), 1) << said;
    EXPECT_THAT(said,
                AllOf(HasSubstr("error: rank " + std::to_string(victim) + " was killed"),
                      ContainsRegex(kAnOperation), HasSubstr("the ranks' logs are in "),
                      HasSubstr(victim == 0 ? "the last lines of rank 0:\n" : "rank 1 wrote nothing\n")));
    EXPECT_EQ(program_->output(), "");
    expect_nothing_left();
    fs::remove_all(habitat_.path() / "program");
  }
}

TEST_P(BenchFailure, a_stopped_rank_ends_the_run_at_the_timeout_and_is_named) {
  ASSERT_NO_FATAL_FAILURE(start_long_bench("1s"));
  kill(ranks_[1], SIGSTOP);
  const auto ending = program_->wait(1s + kSlack);
  const std::string said = program_->error();
  EXPECT_TRUE(ending.in_time) << said;
  EXPECT_EQ(ending.exit_code, 124);
  EXPECT_EQ(count_of("error: ", said), 1) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("error: rank 1 does not answer (stopped"), ContainsRegex(kAnOperation)));
  expect_nothing_left();
}

// Nobody waits for it: its control thread, which answers while it computes, is stopped with it.
TEST_P(BenchFailure, a_stopped_lone_rank_ends_the_run_at_the_timeout_and_is_named) {
  program_ =
      std::make_unique<StartedProgram>(habitat_, "program",
                                       bench({"allreduce", "--workers", "1", "-b", "1M", "-e", "1M", "-n",
                                              "100000000", "--timeout", "1s", "--progress", "lines"}));
  ASSERT_TRUE(program_->await_error("[1/1] all_reduce")) << program_->error();
  ranks_ = ranks_in(habitat_);
  ASSERT_EQ(ranks_.size(), 1U);
  port_ = std::stoi(variable_of(ranks_[0], "MASTER_PORT"));
  kill(ranks_[0], SIGSTOP);
  const auto ending = program_->wait(1s + kSlack);
  EXPECT_TRUE(ending.in_time) << program_->error();
  EXPECT_EQ(ending.exit_code, 124);
  EXPECT_THAT(program_->error(), HasSubstr("error: rank 0 does not answer (stopped"));
  expect_nothing_left();
}

TEST_P(BenchFailure, a_killed_launcher_leaves_nothing) {
  ASSERT_NO_FATAL_FAILURE(start_long_bench("60s"));
  program_.reset();
  expect_nothing_left();
}

TEST_P(BenchFailure, a_rank_that_never_arrives_ends_the_others_at_the_join_timeout_and_is_named) {
  const std::vector<std::string> flags = {"allreduce", "--join-timeout", "1s"};
  start_by_hand({flags, flags}, 3);
  const std::string said = expect_shells_fail(124, 1s + kSlack);
  EXPECT_THAT(said, HasSubstr("error: rank 2 of 3 did not arrive within 1"));
  expect_nothing_left();
}

TEST_P(BenchFailure, ranks_that_were_given_different_flags_are_told_which) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"allreduce", "-b", "4K", "-e", "8K"}, "--max-bytes is 8192 on rank 1 and 4096 on rank 0"},
      {{"allreduce", "-b", "4K", "-e", "4K", "--dtype", "f64"}, "--dtype is f64 on rank 1 and f32 on rank 0"},
      {{"broadcast", "-b", "4K", "-e", "4K"}, "--collective is broadcast on rank 1 and all_reduce on rank 0"},
  };
  for (const auto& [flags, expected] : cases) {
    start_by_hand({{"allreduce", "-b", "4K", "-e", "4K"}, flags}, 2);
    const std::string said = expect_shells_fail(1, kSlack);
    EXPECT_THAT(said, AllOf(HasSubstr("error: rank 1 disagrees with rank 0 about the bench of "),
                            HasSubstr(expected)));
    expect_nothing_left();
    for (std::size_t rank = 0; rank < shells_.size(); ++rank)
      fs::remove_all(habitat_.path() / ("shell" + std::to_string(rank)));
    shells_.clear();
  }
}

// Ranks of mpirun can be given different flags too.
TEST(BenchFailureUnderMpirun, ranks_that_were_given_different_flags_are_told_which) {
  if (run_shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "no mpirun here";
  const std::string bench = " -n 1 " + program() + " bench allreduce --backend mpi -b 4K -e 4K ";
  const ProgramRun run = run_shell("mpirun --allow-run-as-root --oversubscribe --bind-to none" + bench +
                                   "--dtype f32 :" + bench + "--dtype f64");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(count_of("error: ", run.err), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("--dtype is f64 on rank 1 and f32 on rank 0"));
}

INSTANTIATE_TEST_SUITE_P(Backends, BenchFailure, ::testing::Values("shm", "gloo", "mpi"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace lockstep::testing
