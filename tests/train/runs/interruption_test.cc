// SIGTERM or SIGINT to one rank of a run interrupts the whole run, whoever started the ranks and whatever
// they are doing; and a rank that was paused holds nobody up afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "tests/train/runs/started_training.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr int kRanks = 3;
// Endless, but for the signal; slow enough to be met between any two events.
constexpr const char* kTraining =
    "--model lenet5 --data digits --train-samples 240 --threads 1 --steps 100000 ";
const Environment kSlowly = {{"LOCKSTEP_DELAY", "compute=5ms"}};

struct Case {
  std::string backend;
  int rank = 0;
  int signal = SIGTERM;
};

std::string word_of(const Case& one) {
  return "rank " + std::to_string(one.rank) + " was interrupted by " +
         (one.signal == SIGINT ? "SIGINT" : "SIGTERM");
}

void expect_interrupted(const Json& record, const Case& one) {
  ASSERT_TRUE(record.is_object());
  EXPECT_EQ(record.at("status"), "interrupted");
  EXPECT_EQ(record.at("failure").at("rank"), one.rank);
  EXPECT_THAT(record.at("failure").at("message").get<std::string>(), HasSubstr(word_of(one)));
}

class SignalToOneRank : public ::testing::TestWithParam<Case> {
 protected:
  TrainStore store_;
};

TEST_P(SignalToOneRank, InterruptsTheRunUnderOurLauncher) {
  StartedTraining training(store_, kTraining + ("--workers 3 --backend " + GetParam().backend), kSlowly);
  ASSERT_TRUE(training.await_steps(10)) << training.error();
  training.signal_rank(GetParam().rank, GetParam().signal);
  const TrainRun run = training.wait(40s);
  EXPECT_TRUE(training.ended_in_time()) << run.err;
  EXPECT_EQ(run.exit_code, 128 + GetParam().signal) << run.err;
  EXPECT_EQ(occurrences("error: ", run.err), 0) << run.err;
  expect_interrupted(run.record, GetParam());
  EXPECT_THAT(run.record.at("failure").at("message").get<std::string>(), HasSubstr("a checkpoint is in"));
  EXPECT_TRUE(comes_true([&] { return ranks_in(training.habitat()).empty(); }, 10s));
}

INSTANTIATE_TEST_SUITE_P(All, SignalToOneRank,
                         ::testing::Values(Case{"shm", 0, SIGTERM}, Case{"shm", 2, SIGINT},
                                           Case{"gloo", 1, SIGTERM}, Case{"mpi", 2, SIGTERM}),
                         [](const auto& one) {
                           return one.param.backend + "_rank_" + std::to_string(one.param.rank) + "_signal_" +
                                  std::to_string(one.param.signal);
                         });

// Ranks by hand, as programs of this test's own.
class RanksByHand : public ::testing::Test {
 protected:
  std::vector<std::string> command(int rank, const std::string& more) const {
    std::vector<std::string> words = {program_path(), "train"};
    std::istringstream all(kTraining + ("--backend gloo --rank " + std::to_string(rank)) +
                           " --world 3 --master-addr " + "127.0.0.1 --master-port " + std::to_string(port_) +
                           " --json --progress none --store " + store_.path().string() + more);
    for (std::string word; all >> word;) words.push_back(word);
    return words;
  }
  void start(const std::string& more = "") {
    for (int rank = 0; rank < kRanks; ++rank)
      ranks_.push_back(std::make_unique<StartedProgram>(habitat_, "rank" + std::to_string(rank),
                                                        command(rank, more), kSlowly));
  }
  bool await_steps(int steps) const {
    return comes_true([&] { return steps_said() >= steps; }, 90s);
  }
  void expect_all_end(const Case& one) {
    for (int rank = 0; rank < kRanks; ++rank) {
      StartedProgram& program = *ranks_[static_cast<std::size_t>(rank)];
      const StartedProgram::Ending ending = program.wait(40s);
      EXPECT_TRUE(ending.in_time) << "rank " << rank << "\n" << program.error();
      EXPECT_EQ(ending.exit_code, 128 + one.signal) << "rank " << rank << "\n" << program.error();
    }
    expect_interrupted(Json::parse(ranks_[0]->output(), nullptr, false), one);
    EXPECT_TRUE(comes_true([&] { return habitat_.inhabitants().empty(); }, 10s));
  }

  TrainStore store_;
  Habitat habitat_;
  const int port_ = free_port();
  std::vector<std::unique_ptr<StartedProgram>> ranks_;

 private:
  int steps_said() const {
    int steps = 0;
    std::error_code ignored;
    for (const auto& run : std::filesystem::directory_iterator(store_.path() / "runs", ignored)) {
      std::ifstream stream(run.path() / "rank0.jsonl");
      for (std::string line; std::getline(stream, line);)
        steps += line.find("\"event\":\"step\"") != std::string::npos;
    }
    return steps;
  }
};

TEST_F(RanksByHand, OneThatIsSentASignalInterruptsAll) {
  start();
  ASSERT_TRUE(await_steps(10)) << ranks_[0]->error();
  kill(ranks_[1]->pid(), SIGINT);
  expect_all_end({"gloo", 1, SIGINT});
}

TEST_F(RanksByHand, TheFirstOneToo) {
  start();
  ASSERT_TRUE(await_steps(10)) << ranks_[0]->error();
  kill(ranks_[0]->pid(), SIGTERM);
  expect_all_end({"gloo", 0, SIGTERM});
}

// Building the model takes a while here.
TEST_F(RanksByHand, OneThatIsSentASignalWhileItLoadsEndsAllAtOnce) {
  start(" --model densenet121 --image-size 64");
  ASSERT_TRUE(comes_true(
      [&] {
        std::error_code ignored;
        for (const auto& run : std::filesystem::directory_iterator(store_.path() / "runs", ignored))
          if (std::filesystem::exists(run.path() / "rank2.jsonl")) return true;
        return false;
      },
      60s));
  kill(ranks_[2]->pid(), SIGTERM);
  expect_all_end({"gloo", 2, SIGTERM});
}

// mpirun hands its own signals on; this one is for a rank.
TEST(UnderMpirun, ASignalToOneRankInterruptsTheRun) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "there is no mpirun here";
  const TrainStore store;
  const Habitat habitat;
  std::vector<std::string> command = {
      "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", program_path(), "train"};
  std::istringstream all(kTraining + std::string("--backend gloo --json --progress none --store ") +
                         store.path().string());
  for (std::string word; all >> word;) command.push_back(word);
  StartedProgram mpirun(habitat, "mpirun", command, kSlowly);
  const auto run = [&]() -> std::filesystem::path {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(store.path() / "runs", ignored))
      return entry.path();
    return {};
  };
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(run() / "rank2.jsonl"); }, 60s))
      << mpirun.error();
  ASSERT_TRUE(comes_true(
      [&] {
        std::ifstream events(run() / "rank2.jsonl");
        return std::string(std::istreambuf_iterator<char>(events), {}).find("\"event\":\"step\"") !=
               std::string::npos;
      },
      60s));
  kill(ranks_in(habitat).at(2), SIGTERM);
  EXPECT_TRUE(mpirun.wait(40s).in_time) << mpirun.error();
  std::ifstream record(run() / "record.json");
  expect_interrupted(Json::parse(record, nullptr, false), {"gloo", 2, SIGTERM});
}

// Steps between one checkpoint and the next.
std::vector<int> steps_between_checkpoints(const TrainRun& run) {
  std::vector<int> counts = {0};
  for (const record::Event& event : run.events(0)) {
    if (std::holds_alternative<record::StepEvent>(event.body)) ++counts.back();
    if (std::holds_alternative<record::CheckpointEvent>(event.body)) counts.push_back(0);
  }
  counts.pop_back();
  return counts;
}

int median(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

// Both halves of the run are counted by the same clock on the same machine: what the pause leaves behind is a
// factor of a hundred where clocks have come apart.
TEST(PausedRank, HoldsNobodyUpOnceItGoesOn) {
  const TrainStore store;
  StartedTraining training(
      store,
      "--model lenet5 --data digits --train-samples 240 --threads 1 --workers 2 --max-time 9s "
      "--validate-every 0 --checkpoint-time 400ms",
      {});
  ASSERT_TRUE(training.await_checkpoints(4)) << training.error();
  const int before = training.steps_said();
  training.signal_rank(1, SIGSTOP);
  std::this_thread::sleep_for(1300ms);
  training.signal_rank(1, SIGCONT);
  const TrainRun run = training.wait(60s);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<int> counts = steps_between_checkpoints(run);
  ASSERT_GE(counts.size(), 10u);
  const std::vector<int> first(counts.begin() + 1, counts.begin() + 4);
  const std::vector<int> rest(counts.begin() + 6, counts.end());
  EXPECT_GT(median(rest), median(first) / 8) << "steps between checkpoints, the pause after step " << before
                                             << ": " << ::testing::PrintToString(counts);
}

TEST(Checkpoints, ByTheClockTakeNoMoreThanHalfOfTheTimeAndThatIsSaid) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--model resnet18-cifar --data digits --train-samples 64 --image-size 16 --model-options width=8 "
      "--global-batch 8 "
      "--threads 1 --workers 2 --steps 60 --validate-every 0 --checkpoint-time 1ms");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  double writing = 0, longest = 0, first = -1, last = 0;
  for (const record::Event& event : run.events(0)) {
    const auto* checkpoint = std::get_if<record::CheckpointEvent>(&event.body);
    if (checkpoint == nullptr) continue;
    writing += *checkpoint->seconds;
    longest = std::max(longest, *checkpoint->seconds);
    if (first < 0) first = event.time - *checkpoint->seconds;
    last = event.time;
  }
  ASSERT_GE(first, 0);
  EXPECT_LE(writing, (last - first) / 2 + longest);
  EXPECT_THAT(run.record.at("warnings").dump(), HasSubstr("instead of every 1.00 ms"));
  EXPECT_THAT(run.err, HasSubstr("Give a longer --checkpoint-time"));
}

}  // namespace
}  // namespace lockstep::testing
