// Ranks that hear of a wish at different moments act on it after the same step.
#include "lockstep/train/agreement.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
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

struct Heard {
  Wish wish = Wish::none;
  std::int64_t boundary = -1;
};

Heard train(comm::Communicator& communicator, Agreement& agreement) {
  for (std::int64_t done = 1; done <= kMostSteps; ++done) {
    step(communicator);
    if (const Wish wish = agreement.at_boundary(done); wish != Wish::none) return {wish, done};
  }
  return {};
}

// Trains until a wish comes. A thread of each rank proposes `mine` after `later`: signals come at any moment.
Heard train_until_wish(comm::Communicator& communicator, const AgreementOptions& options, Wish mine,
                       base::Nanoseconds later) {
  Agreement agreement(communicator.duplicate(), options);
  std::thread signal([&] {
    std::this_thread::sleep_for(later);
    if (mine != Wish::none) agreement.propose(mine);
  });
  const Heard heard = train(communicator, agreement);
  signal.join();
  return heard;
}

void expect_all_heard(const std::array<Heard, kRanks>& heard, Wish wish) {
  for (const Heard& one : heard) {
    EXPECT_EQ(one.wish, wish);
    EXPECT_EQ(one.boundary, heard.front().boundary);
  }
}

TEST(Agreement, RanksThatHearOfASignalAtDifferentStepsStopAfterTheSameOne) {
  std::array<Heard, kRanks> heard;
  expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
    heard[static_cast<std::size_t>(communicator.group().rank)] = train_until_wish(
        communicator, {}, Wish::interrupt, std::chrono::milliseconds(10 + 25 * communicator.group().rank));
  });
  expect_all_heard(heard, Wish::interrupt);
}

TEST(Agreement, TheStrongestOfDifferentWishesHolds) {
  std::array<Heard, kRanks> heard;
  expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
    heard[static_cast<std::size_t>(communicator.group().rank)] = train_until_wish(
        communicator, {}, communicator.group().rank == 1 ? Wish::interrupt : Wish::checkpoint, 10ms);
  });
  expect_all_heard(heard, Wish::interrupt);
}

TEST(Agreement, ATimeLimitStopsAllAfterTheSameStep) {
  std::array<Heard, kRanks> heard;
  expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
    AgreementOptions options;
    options.stop_after = std::chrono::milliseconds(50 + 20 * communicator.group().rank);  // clocks differ
    heard[static_cast<std::size_t>(communicator.group().rank)] =
        train_until_wish(communicator, options, Wish::none, 0ms);
  });
  expect_all_heard(heard, Wish::stop);
}

TEST(Agreement, CheckpointsComeAgainAndAgainAtTheSameSteps) {
  std::array<std::vector<std::int64_t>, kRanks> boundaries;
  expect_replicas_succeed(kRanks, [&](comm::Communicator& communicator) {
    AgreementOptions options;
    options.checkpoint_every = 30ms;
    Agreement agreement(communicator.duplicate(), options);
    auto& mine = boundaries[static_cast<std::size_t>(communicator.group().rank)];
    for (std::int64_t done = 1; done <= 300; ++done) {
      step(communicator);
      if (done < 300 && agreement.at_boundary(done) == Wish::checkpoint) mine.push_back(done);
    }
  });
  EXPECT_GE(boundaries.front().size(), 2u);
  EXPECT_EQ(boundaries[0], boundaries[1]);
  EXPECT_EQ(boundaries[0], boundaries[2]);
}

TEST(Agreement, ARankThatWishesWhenTrainingEndsHoldsNobodyUp) {
  expect_replicas_succeed(kRanks, [](comm::Communicator& communicator) {
    Agreement agreement(communicator.duplicate(), {});
    for (std::int64_t done = 1; done <= 10; ++done) {
      step(communicator);
      if (done == 9 && communicator.group().rank == 0) agreement.propose(Wish::interrupt);
      if (done < 9) check(agreement.at_boundary(done) == Wish::none, "nothing was wished");
    }
  });
}

TEST(Agreement, OfOneWorkerIsItsOwnWish) {
  Agreement agreement(nullptr, {});
  agreement.propose(Wish::interrupt);
  Wish wish = Wish::none;
  for (std::int64_t done = 1; done <= kMostSteps && wish == Wish::none; ++done) {
    std::this_thread::sleep_for(1ms);
    wish = agreement.at_boundary(done);
  }
  EXPECT_EQ(wish, Wish::interrupt);
}

}  // namespace
}  // namespace lockstep::train
