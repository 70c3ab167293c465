// The mpi backend between processes that mpirun starts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"
#include "tests/support/disagreements.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {
namespace {

std::string command_line(int world, const std::string& arguments) {
  const auto rank_program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "comm_mpi_rank";
  return fmt::format("timeout 580 mpirun --allow-run-as-root --oversubscribe --bind-to none -n {} {} {}",
                     world, rank_program.string(), arguments);
}

// The exit code of `world` ranks running one scenario.
int run_under_mpirun(int world, const std::string& scenario) {
  const int status = std::system(command_line(world, scenario).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What all ranks together said on standard error, and the exit code.
struct Said {
  int exit_code;
  std::string text;
};
Said listen_to_mpirun(int world, const std::string& arguments) {
  FILE* pipe = ::popen((command_line(world, arguments) + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text.push_back(static_cast<char>(c));
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text};
}

class MpiTest : public ::testing::TestWithParam<int> {};

TEST_P(MpiTest, GivesExactResultsForEveryCollectiveTypeAndSize) {
  EXPECT_EQ(run_under_mpirun(GetParam(), "collectives"), 0);
}

TEST_P(MpiTest, GivesExactResultsWhenTensorsGoInPieces) {
  EXPECT_EQ(run_under_mpirun(GetParam(), "pieces"), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, MpiTest, ::testing::Values(1, 2, 3, 5, 8),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

class MpiHugeTest : public ::testing::TestWithParam<int> {};

TEST_P(MpiHugeTest, GivesExactResultsForSixtyFourMebibytes) {
  EXPECT_EQ(run_under_mpirun(GetParam(), "huge"), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, MpiHugeTest, ::testing::Values(2, 4),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

TEST(MpiSplitTest, FormsGroupsByColourOrderedByKey) {
  EXPECT_EQ(run_under_mpirun(5, "split"), 0);
}

TEST(MpiQueueTest, KeepsOperationsOfTwoChannelsInFlight) {
  EXPECT_EQ(run_under_mpirun(2, "in-flight"), 0);
}

TEST(MpiMovementTest, ShowsALatePeerAsPeerWait) {
  EXPECT_EQ(run_under_mpirun(2, "peer-wait"), 0);
}

class MpiDisagreementTest : public ::testing::TestWithParam<Disagreement> {};

TEST_P(MpiDisagreementTest, EndsAllRanksAndNamesBothOperations) {
  const Said said = listen_to_mpirun(2, "disagree " + GetParam().name);
  EXPECT_THAT(said.exit_code, ::testing::AnyOf(1, 124)) << said.text;
  EXPECT_THAT(said.text, ::testing::AllOf(::testing::HasSubstr("error: "), ::testing::HasSubstr("disagree"),
                                          ::testing::HasSubstr(GetParam().first_words),
                                          ::testing::HasSubstr(GetParam().second_words)));
}

INSTANTIATE_TEST_SUITE_P(Ways, MpiDisagreementTest, ::testing::ValuesIn(disagreements()),
                         [](const auto& test) { return test.param.name; });

TEST(MpiBackendTest, IsAvailableWithoutMpirunButSaysWhyItCannotBeOpened) {
  expect_ranks_succeed(1, [](Rank& rank) {
    const comm::PluginBackend backend("mpi", base::plugin_directory() / "backend_mpi.so");
    const comm::Availability availability = backend.availability();
    check(availability.available && availability.detail.find("MPI") != std::string::npos,
          availability.detail);
    try {
      backend.open(rank.group, rank.store, {});
    } catch (const base::DeviceError& error) {
      check(std::string(error.what()).find("mpirun") != std::string::npos, error.what());
      return;
    }
    check(false, "it cannot be opened without mpirun");
  });
}

}  // namespace
}  // namespace lockstep::testing
