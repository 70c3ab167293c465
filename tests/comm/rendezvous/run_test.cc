// The server and its ranks as processes: the store, joining, and what each kind of failure leads to.
#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "lockstep/base/error.h"
#include "tests/comm/rendezvous/run_fixture.h"

namespace lockstep::comm::testing {
namespace {

using Kind = base::CommError::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr base::Nanoseconds kLong = std::chrono::seconds(300);

void begin(OperationBoard& board, std::size_t count, base::Nanoseconds timeout = kLong) {
  const Buffer buffer{nullptr, count * 4, ElementType::f32, Place::host};
  board.begin(all_reduce(buffer, ReduceOp::sum, Purpose::gradient), "gloo", base::now(), timeout);
}

// Stays in an operation until the run ends and returns the verdict's exit code, as a rank would.
int wait_in_operation(RunClient& client) {
  while (!client.verdict()) std::this_thread::sleep_for(milliseconds(2));
  return static_cast<int>(client.report_failure(base::CommError(Kind::collateral, "aborted")).exit_code);
}

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(seconds(1));
}

// Until every rank has joined: one that is still joining when the run ends is refused, which is another case.
void await_all(SharedCounter& joined, int world) {
  joined.add_one();
  eventually([&] { return joined.value() == world; });
}

class Run : public RunTest {};

TEST_F(Run, SharesKeysAndCountersAndEndsWithGoodbyes) {
  start(3, [](Rank& rank) {
    const std::string mine = "key" + std::to_string(rank.rank);
    const std::string next = "key" + std::to_string((rank.rank + 1) % 3);
    rank.client->set(mine, std::string(100000, static_cast<char>('a' + rank.rank)));
    const std::string value = rank.client->get(next, base::Deadline(seconds(10)));
    const std::int64_t count = rank.client->add("count", 5);
    rank.client->goodbye();
    return value == std::string(100000, static_cast<char>('a' + (rank.rank + 1) % 3)) && count % 5 == 0 ? 0
                                                                                                        : 1;
  });
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks_->wait(rank), 0) << ranks_->errors_of(rank);
  EXPECT_TRUE(server_->wait_until_left(base::Deadline(seconds(5))));
  EXPECT_EQ(server_->finished(), 3);
  EXPECT_FALSE(server_->verdict().has_value());
}

TEST_F(Run, NamesTheKeyForWhichARankWaitedInVain) {
  start(1, [](Rank& rank) {
    try {
      rank.client->get("nobody/sets/this", base::Deadline(milliseconds(100)));
    } catch (const base::CommError& error) {
      rank.client->goodbye();
      return error.kind() == Kind::timed_out &&
                     std::string(error.what()).find("nobody/sets/this") != std::string::npos
                 ? 0
                 : 1;
    }
    return 2;
  });
  EXPECT_EQ(ranks_->wait(0), 0) << ranks_->errors_of(0);
}

TEST_F(Run, NamesAKilledRankAndWhereTheOthersWere) {
  RunServerOptions options = server_options(2);
  options.watched = true;
  SharedCounter ready;
  start(options, 2, [&ready](Rank& rank) {
    begin(*rank.board, 1024);
    ready.add_one();
    return wait_in_operation(*rank.client);
  });
  ASSERT_TRUE(eventually([&] { return ready.value() == 2; }));
  ranks_->signal(1, SIGKILL);
  ASSERT_EQ(ranks_->wait(1), 128 + SIGKILL);
  server_->report_exit(1, "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(ranks_->wait(0, seconds(2)), 1);
  EXPECT_EQ(verdict().rank, 1);
  EXPECT_THAT(verdict().message,
              HasSubstr("rank 1 was killed by signal 9 (SIGKILL) while rank 0 was in all_reduce #1 "
                        "(sum) of 1024 f32 over gloo"));
}

TEST_F(Run, NamesALostRankWithoutALauncher) {
  SharedCounter joined;
  start(3, [&joined](Rank& rank) {
    await_all(joined, 3);
    if (rank.rank == 1) return 7;
    begin(*rank.board, 10);
    return wait_in_operation(*rank.client);
  });
  EXPECT_EQ(ranks_->wait(0, seconds(5)), 1);
  EXPECT_EQ(ranks_->wait(2, seconds(5)), 1);
  EXPECT_EQ(verdict().rank, 1);
  EXPECT_THAT(verdict().message, HasSubstr("rank 1 is gone"));
}

TEST_F(Run, FindsAStoppedRankWhenAnotherTimesOut) {
  start(3, [](Rank& rank) {
    begin(*rank.board, 10);
    if (rank.rank == 2) ::raise(SIGSTOP);
    if (rank.rank == 1) return wait_in_operation(*rank.client);
    std::this_thread::sleep_for(milliseconds(500));
    return static_cast<int>(
        rank.client->report_failure(base::CommError(Kind::timed_out, "rank 0: timeout")).exit_code);
  });
  EXPECT_EQ(ranks_->wait(0), 124) << ranks_->errors_of(0);
  EXPECT_EQ(ranks_->wait(1), 124);
  EXPECT_EQ(verdict().rank, 2);
  EXPECT_THAT(verdict().message, HasSubstr("rank 2 does not answer"));
  EXPECT_TRUE(server_->wait_until_left(base::Deadline(seconds(5)))) << "the stopped rank cannot leave";
}

TEST_F(Run, NamesAStoppedRankForWhichNobodyWaits) {
  RunServerOptions options = server_options(2);
  options.silence_timeout = seconds(1);
  start(options, 2, [](Rank& rank) {
    if (rank.rank == 0) {
      rank.client->goodbye();
      return 0;
    }
    ::raise(SIGSTOP);
    return 1;
  });
  EXPECT_EQ(ranks_->wait(0), 0);
  EXPECT_EQ(verdict().rank, 1);
  EXPECT_EQ(verdict().exit_code, base::ExitCode::timed_out);
  EXPECT_THAT(verdict().message,
              AllOf(HasSubstr("rank 1 does not answer (stopped"), HasSubstr("rank 0 had finished")));
  EXPECT_TRUE(server_->wait_until_left(base::Deadline(seconds(5)))) << "the stopped rank cannot leave";
}

TEST_F(Run, LetsALoneRankComputeLongerThanTheTimeout) {
  RunServerOptions options = server_options(1);
  options.silence_timeout = milliseconds(300);
  start(options, 1, [](Rank& rank) {
    const base::Deadline deadline(seconds(2));
    while (!deadline.passed()) {
    }
    rank.client->goodbye();
    return 0;
  });
  EXPECT_EQ(ranks_->wait(0), 0) << ranks_->errors_of(0);
  EXPECT_FALSE(server_->verdict().has_value());
}

TEST_F(Run, NamesRanksThatNeverArrive) {
  RunServerOptions options = server_options(4);
  options.join_timeout = milliseconds(500);
  server_ = std::make_unique<RunServer>(options);
  ranks_ = std::make_unique<ForkedRanks>(2, [this](int number) {
    const OperationBoards boards;
    try {
      RunClient client(client_options(number, 4), boards);
    } catch (const RunEnded& ended) {
      const bool named =
          std::string(ended.what()).find("ranks 2 and 3 of 4 did not arrive") != std::string::npos;
      return named ? static_cast<int>(ended.verdict.exit_code) : 1;
    }
    return 2;
  });
  server_->start({});
  EXPECT_EQ(ranks_->wait(0, seconds(5)), 124) << ranks_->errors_of(0);
  EXPECT_EQ(ranks_->wait(1, seconds(5)), 124) << ranks_->errors_of(1);
  EXPECT_EQ(verdict().rank, 2);
}

TEST_F(Run, FindsADisagreementByComparingPositions) {
  start(2, [](Rank& rank) {
    begin(*rank.board, rank.rank == 0 ? 1000 : 1001);
    if (rank.rank == 1) return wait_in_operation(*rank.client);
    std::this_thread::sleep_for(milliseconds(300));
    return static_cast<int>(
        rank.client->report_failure(base::CommError(Kind::timed_out, "rank 0: timeout")).exit_code);
  });
  EXPECT_EQ(ranks_->wait(0), 124);
  EXPECT_EQ(ranks_->wait(1), 124);
  EXPECT_EQ(verdict().kind, Kind::disagreement);
  EXPECT_THAT(verdict().message,
              HasSubstr("rank 0 was in all_reduce #1 (sum) of 1000 f32 over gloo, rank 1 was in "
                        "all_reduce #1 (sum) of 1001 f32 over gloo"));
}

TEST_F(Run, LetsTheCulpritSpeakAfterItsVictim) {
  SharedCounter joined;
  start(2, [&joined](Rank& rank) {
    await_all(joined, 2);
    if (rank.rank == 1) std::this_thread::sleep_for(milliseconds(60));
    const base::CommError victim(Kind::peer_lost, "rank 0 lost rank 1");
    const base::ConfigError culprit("the data are not there");
    const base::Error& mine = rank.rank == 0 ? static_cast<const base::Error&>(victim) : culprit;
    return static_cast<int>(rank.client->report_failure(mine).exit_code);
  });
  EXPECT_EQ(ranks_->wait(0), 3);
  EXPECT_EQ(ranks_->wait(1), 3);
  EXPECT_EQ(verdict().rank, 1);
  EXPECT_EQ(verdict().message, "rank 1: the data are not there");
}

TEST_F(Run, EndsARankStuckInALibraryPastItsDeadline) {
  start(2, [](Rank& rank) {
    begin(*rank.board, 10, rank.rank == 1 ? base::Nanoseconds(milliseconds(200)) : kLong);
    if (rank.rank == 1) hang();
    return wait_in_operation(*rank.client);
  });
  EXPECT_EQ(ranks_->wait(1, seconds(6)), 124);
  EXPECT_EQ(ranks_->wait(0, seconds(6)), 124);
  EXPECT_EQ(verdict().kind, Kind::timed_out);
}

TEST_F(Run, EndsARankThatDoesNotHeedTheVerdict) {
  SharedCounter joined;
  start(2, [&joined](Rank& rank) {
    await_all(joined, 2);
    if (rank.rank == 0) hang();
    return static_cast<int>(rank.client->report_failure(base::ConfigError("no")).exit_code);
  });
  EXPECT_EQ(ranks_->wait(1), 3);
  EXPECT_EQ(ranks_->wait(0, seconds(5)), 3);
}

TEST_F(Run, LeavesNoOrphanWhenTheServerIsGone) {
  SharedCounter ready;
  start(2, [&ready](Rank&) -> int {
    ready.add_one();
    hang();
  });
  ASSERT_TRUE(eventually([&] { return ready.value() == 2; }));
  server_.reset();
  EXPECT_EQ(ranks_->wait(0, seconds(6)), 1);
  EXPECT_EQ(ranks_->wait(1, seconds(6)), 1);
}

// Rank 0 serves a run by hand: where it is stopped and then ended, nobody is left to say so.
TEST_F(Run, NamesRank0WhereItsServerWasSilentBeforeItWent) {
  RunServerOptions options = server_options(1);
  options.silence_timeout = seconds(1);
  server_ = std::make_unique<RunServer>(options);
  SharedCounter ready;
  ranks_ = std::make_unique<ForkedRanks>(2, [&](int number) -> int {
    if (number == 0) {
      server_->start({});
      hang();
    }
    const OperationBoards boards;
    RunClientOptions mine = client_options(0, 1);
    mine.silence_timeout = seconds(1);
    RunClient client(mine, boards);
    ready.add_one();
    try {
      client.get("what nobody sets", base::Deadline(kLong));
    } catch (const RunEnded& ended) {
      const bool named =
          std::string(ended.what()).find("rank 0 does not answer (stopped)") != std::string::npos;
      return named && ended.verdict.rank == 0 ? static_cast<int>(ended.verdict.exit_code) : 2;
    }
    return 3;
  });
  ASSERT_TRUE(eventually([&] { return ready.value() == 1; }));
  ranks_->signal(0, SIGSTOP);
  std::this_thread::sleep_for(milliseconds(1500));
  ranks_->signal(0, SIGKILL);
  EXPECT_EQ(ranks_->wait(1, seconds(5)), 124) << ranks_->errors_of(1);
}

TEST_F(Run, CallsTheAbortActionWithTheVerdictOnAnotherThread) {
  start(2, [](Rank& rank) {
    if (rank.rank == 1) {
      rank.client->get("rank 0 listens", base::Deadline(seconds(20)));
      return static_cast<int>(rank.client->report_failure(base::ConfigError("bad")).exit_code);
    }
    std::atomic<bool> right{false};
    std::atomic<bool> called{false};
    rank.client->on_abort([&](const std::string& reason) {
      right = reason == "rank 1: bad";
      called = true;
    });
    rank.client->set("rank 0 listens", "yes");
    while (!called) std::this_thread::sleep_for(milliseconds(1));
    return wait_in_operation(*rank.client) == 3 && right ? 0 : 1;
  });
  EXPECT_EQ(ranks_->wait(0), 0) << ranks_->errors_of(0);
}

TEST_F(Run, EndsWhenAskedTo) {
  start(2, [](Rank& rank) { return wait_in_operation(*rank.client); });
  server_->end_run("interrupted by Ctrl-C", static_cast<base::ExitCode>(130));
  // Asked before the ranks have arrived, it refuses those that come later with the same words.
  for (int rank = 0; rank < 2; ++rank) {
    const auto code = ranks_->wait(rank);
    EXPECT_TRUE(code == 130 || (code == 99 && ranks_->errors_of(rank).find("Ctrl-C") != std::string::npos));
  }
}

TEST_F(Run, NamesARankThatEndedBeforeItJoined) {
  RunServerOptions options = server_options(2);
  options.watched = true;
  start(options, 1, [](Rank&) { return 0; });
  server_->report_exit(1, "exited with code 3");
  EXPECT_EQ(ranks_->wait(0), 99);
  EXPECT_THAT(ranks_->errors_of(0), HasSubstr("rank 1 exited with code 3 before it joined the run"));
}

TEST_F(Run, IgnoresTheEndOfARankThatSaidGoodbye) {
  start(1, [](Rank& rank) {
    rank.client->goodbye();
    return 0;
  });
  EXPECT_EQ(ranks_->wait(0), 0);
  server_->report_exit(0, "exited with code 0");
  EXPECT_TRUE(server_->wait_until_left(base::Deadline(seconds(5))));
  EXPECT_FALSE(server_->verdict().has_value());
}

}  // namespace
}  // namespace lockstep::comm::testing
