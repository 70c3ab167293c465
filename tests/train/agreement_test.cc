// Ranks that hear of a wish at different moments act on it after the same step.
#include "lockstep/train/agreement.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <thread>

#include "lockstep/comm/operation.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::train {
namespace {

using lockstep::testing::check;
using lockstep::testing::expect_replicas_succeed;
using namespace std::chrono_literals;

constexpr int kRanks = 3;
constexpr std::int64_t kMostSteps = 5000;

// A step: ranks differ in speed, and wait for each other in it.
void step(comm::Communicator& communicator) {
  std::this_thread::sleep_for(std::chrono::microseconds(200 * (communicator.group().rank + 1)));
  communicator.run(comm::barrier());
}

// A store of its own for each group of replicas.
class StoreDirectory {
 public:
  StoreDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-agreement-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~StoreDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Heard {
  Wish wish = Wish::none;
  std::int64_t boundary = -1;
  Interrupter why;
};

Heard train(comm::Communicator& communicator, Agreement& agreement) {
  for (std::int64_t done = 1; done <= kMostSteps; ++done) {
    step(communicator);
    const Wish wish = agreement.at_boundary(done);
    if (wish == Wish::checkpoint) agreement.checkpoint_written();
    if (wish == Wish::stop || wish == Wish::interrupt) return {wish, done, agreement.interrupter()};
  }
  return {};
}

// Trains until a wish ends it. A thread of each rank proposes `mine` after `later`: signals come at any
// moment.
Heard train_until_wish(comm::Communicator& communicator, comm::Store& store, const AgreementOptions& options,
                       Wish mine, base::Nanoseconds later, const Interrupter& why = {}) {
  Agreement agreement(communicator.duplicate(), store, options);
  std::thread signal([&] {
    std::this_thread::sleep_for(later);
    if (mine != Wish::none) agreement.propose(mine, why);
  });
  const Heard heard = train(communicator, agreement);
  signal.join();
  return heard;
}

class AgreementTest : public ::testing::Test {
 protected:
  // Trains on every rank until a wish comes; `mine` and the rest say what each rank wishes, and when.
  template <class Proposals>
  void run(const AgreementOptions& options, Proposals proposals) {
    expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
      const int rank = communicator.group().rank;
      const Proposal mine = proposals(rank);
      heard[static_cast<std::size_t>(rank)] =
          train_until_wish(communicator, store, options, mine.wish, mine.later, mine.why);
    });
  }

  struct Proposal {
    Wish wish = Wish::none;
    base::Nanoseconds later{0};
    Interrupter why = {};
  };
  StoreDirectory directory;
  lockstep::testing::FileStore store{directory.path()};
  std::array<Heard, kRanks> heard;
};

void expect_all_heard(const std::array<Heard, kRanks>& heard, Wish wish) {
  for (const Heard& one : heard) {
    EXPECT_EQ(one.wish, wish);
    EXPECT_EQ(one.boundary, heard.front().boundary);
  }
}

TEST_F(AgreementTest, RanksThatHearOfASignalAtDifferentStepsStopAfterTheSameOne) {
  run({}, [](int rank) { return Proposal{Wish::interrupt, std::chrono::milliseconds(10 + 25 * rank)}; });
  expect_all_heard(heard, Wish::interrupt);
}

TEST_F(AgreementTest, ASignalToOneRankStopsAllAndAllKnowWhichRankItWas) {
  run({}, [](int rank) { return rank == 1 ? Proposal{Wish::interrupt, 10ms, {SIGINT, rank}} : Proposal{}; });
  expect_all_heard(heard, Wish::interrupt);
  for (const Heard& one : heard) {
    EXPECT_EQ(one.why.signal_number, SIGINT);
    EXPECT_EQ(one.why.rank, 1);
  }
}

TEST_F(AgreementTest, ASignalToTheWholeRunIsNoRanks) {
  run({}, [](int) { return Proposal{Wish::interrupt, 10ms, {SIGTERM, std::nullopt}}; });
  expect_all_heard(heard, Wish::interrupt);
  for (const Heard& one : heard) EXPECT_EQ(one.why.rank, std::nullopt);
}

TEST_F(AgreementTest, TheStrongestOfDifferentWishesHolds) {
  run({}, [](int rank) { return Proposal{rank == 1 ? Wish::interrupt : Wish::checkpoint, 10ms}; });
  expect_all_heard(heard, Wish::interrupt);
}

TEST_F(AgreementTest, ATimeLimitStopsAllAfterTheSameStep) {
  AgreementOptions options;
  options.stop_after = 50ms;
  run(options, [](int) { return Proposal{}; });
  expect_all_heard(heard, Wish::stop);
}

// As after a pause of one rank: its clock is behind for good.
TEST_F(AgreementTest, CheckpointsByClocksThatAreApartHoldNobodyUp) {
  std::array<std::vector<std::int64_t>, kRanks> boundaries;
  expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
    const int rank = communicator.group().rank;
    AgreementOptions options;
    options.checkpoint_every = rank == 0 ? base::Nanoseconds(30ms) : base::Nanoseconds(1h);
    Agreement agreement(communicator.duplicate(), store, options);
    auto& mine = boundaries[static_cast<std::size_t>(rank)];
    for (std::int64_t done = 1; done <= 300; ++done) {
      step(communicator);
      if (done < 300 && agreement.at_boundary(done) == Wish::checkpoint) mine.push_back(done);
    }
  });
  EXPECT_GE(boundaries.front().size(), 2u);
  EXPECT_EQ(boundaries[0], boundaries[1]);
  EXPECT_EQ(boundaries[0], boundaries[2]);
}

TEST_F(AgreementTest, ARankThatWishesWhenTrainingEndsHoldsNobodyUp) {
  expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
    Agreement agreement(communicator.duplicate(), store, {});
    for (std::int64_t done = 1; done <= 10; ++done) {
      step(communicator);
      if (done == 9 && communicator.group().rank == 0) agreement.propose(Wish::interrupt);
      if (done < 9) check(agreement.at_boundary(done) == Wish::none, "nothing was wished");
    }
  });
}

TEST_F(AgreementTest, OfOneWorkerIsItsOwnWish) {
  Agreement agreement(nullptr, store, {});
  agreement.propose(Wish::interrupt);
  EXPECT_EQ(agreement.at_boundary(1), Wish::interrupt);
  EXPECT_EQ(agreement.at_boundary(2), Wish::none);
}

TEST(CheckpointTimer, CountsFromTheBeginningOfTheLastCheckpoint) {
  const base::TimePoint zero = base::now();
  CheckpointTimer timer(10s, zero);
  EXPECT_FALSE(timer.due(zero + 9s));
  EXPECT_TRUE(timer.due(zero + 25s));  // a pause: late by 15 s
  timer.begin(zero + 25s);
  timer.end(zero + 26s);
  EXPECT_EQ(timer.interval(), base::Nanoseconds(10s));
  EXPECT_FALSE(timer.due(zero + 34s));
  EXPECT_TRUE(timer.due(zero + 35s));
}

TEST(CheckpointTimer, LeavesHalfOfTheTimeToTraining) {
  const base::TimePoint zero = base::now();
  CheckpointTimer timer(1s, zero);
  timer.begin(zero + 1s);
  timer.end(zero + 4s);
  EXPECT_FALSE(timer.due(zero + 6s));
  EXPECT_TRUE(timer.due(zero + 7s));
  timer.begin(zero + 7s);
  timer.end(zero + 7s + 100ms);
  EXPECT_TRUE(timer.due(zero + 8s)) << "one that was slow once makes no others rare";
}

}  // namespace
}  // namespace lockstep::train
