// Sessions as processes: ranks that serve themselves and ranks under a launcher.
#include "lockstep/comm/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>

#include "lockstep/comm/host_communicator.h"
#include "tests/comm/rendezvous/forked_ranks.h"

namespace lockstep::comm::testing {
namespace {

using Kind = base::CommError::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// A channel whose operations wait for a peer that never comes, until they are aborted or late.
class WaitingChannel : public Channel {
 public:
  explicit WaitingChannel(Group group) : group_(std::move(group)) {}
  const Group& group() const override { return group_; }
  std::string_view backend() const override { return "waiting"; }
  std::string_view link() const override { return "none"; }

  measure::Movement execute(const Operation& operation, base::Deadline deadline) override {
    std::unique_lock lock(mutex_);
    const bool aborted = changed_.wait_until(lock, deadline.at(), [this] { return aborted_; });
    throw base::CommError(
        aborted ? Kind::collateral : Kind::timed_out,
        "rank " + std::to_string(group_.rank) + ": " + describe(operation) + " was in vain");
  }
  std::unique_ptr<Channel> split(int, int, base::Deadline) override {
    return std::make_unique<WaitingChannel>(group_);
  }
  void abort() noexcept override {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }

 private:
  Group group_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool aborted_ = false;
};

std::unique_ptr<Communicator> open_waiting(Session& session, base::Nanoseconds timeout) {
  return session.track(std::make_unique<HostCommunicator>(std::make_unique<WaitingChannel>(session.group()),
                                                          timeout, &session.boards()));
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.meeting_directory = store_.path();
    options_.listen_address = "127.0.0.1";
  }

  // Ranks of one mpirun: they meet through a file.
  Identity identity(int rank, int world) const {
    Identity identity;
    identity.group.rank = rank;
    identity.group.world = world;
    identity.group.host = "here";
    identity.source = "test";
    identity.job = "a test's job";
    identity.key = key_;
    return identity;
  }

  void start(int world, const std::function<void(Session&)>& body) {
    ranks_ = std::make_unique<ForkedRanks>(world, [&, world](int rank) {
      const Registry registry("/nonexistent");
      return run_session(identity(rank, world), registry, options_, body);
    });
  }

  const std::string key_ = make_key();
  const TemporaryDirectory store_;
  SessionOptions options_;
  std::unique_ptr<ForkedRanks> ranks_;
};

TEST_F(SessionTest, OfRanksThatServeThemselvesEndsWellAndLeavesNothingBehind) {
  start(3, [](Session& session) {
    if (session.group().local_world != 3 || session.group().local_rank != session.group().rank)
      throw base::ConfigError("the local ranks are wrong");
    session.store().set("from" + std::to_string(session.group().rank), "value");
    session.store().get("from" + std::to_string((session.group().rank + 1) % 3), base::Deadline(seconds(10)));
    // Rank 0 must go on serving the slowest.
    std::this_thread::sleep_for(milliseconds(200) * session.group().rank);
    session.store().add("last", 1);
  });
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks_->wait(rank), 0) << ranks_->errors_of(rank);
    EXPECT_EQ(ranks_->errors_of(rank), "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(store_.path()));
}

TEST_F(SessionTest, LetsTheFailingRankSayWhatAndTheOthersThatTheyEndBecauseOfIt) {
  start(3, [](Session& session) {
    if (session.group().rank == 1) throw base::DataError("the file is cut");
    auto communicator = open_waiting(session, seconds(100));
    communicator->run(barrier());
  });
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(ranks_->wait(rank, seconds(10)), 3) << ranks_->errors_of(rank);
  EXPECT_EQ(ranks_->errors_of(1), "error: rank 1: the file is cut\n");
  EXPECT_EQ(ranks_->errors_of(0), "rank 0 ends because of another rank: rank 1: the file is cut\n");
  EXPECT_EQ(ranks_->errors_of(2), "rank 2 ends because of another rank: rank 1: the file is cut\n");
}

TEST_F(SessionTest, AbortsSplitsDuplicatesAndOperationsInFlight) {
  start(2, [](Session& session) {
    auto communicator = open_waiting(session, seconds(100));
    auto part = communicator->split(0, 0);
    auto twin = part->duplicate();
    const Work work = communicator->start(barrier());
    if (session.group().rank == 1) throw base::DataError("the file is cut");
    twin->run(barrier());
  });
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_EQ(ranks_->wait(rank, seconds(10)), 3) << ranks_->errors_of(rank);
}

TEST_F(SessionTest, NamesTheOperationOfATimeoutAfterItsCommunicatorIsGone) {
  start(2, [](Session& session) {
    auto communicator = open_waiting(session, session.group().rank == 0 ? milliseconds(300) : seconds(100));
    std::vector<float> data(session.group().rank == 0 ? 10 : 11);
    const Buffer buffer{data.data(), data.size() * 4, ElementType::f32, Place::host};
    communicator->run(all_reduce(buffer, ReduceOp::sum, Purpose::gradient));
  });
  EXPECT_EQ(ranks_->wait(0, seconds(10)), 124);
  EXPECT_EQ(ranks_->wait(1, seconds(10)), 124);
  EXPECT_THAT(
      ranks_->errors_of(0),
      HasSubstr("ranks disagree: rank 0 was in all_reduce #1 (sum) of 10 f32 over waiting, rank 1 was in "
                "all_reduce #1 (sum) of 11 f32 over waiting"));
}

TEST_F(SessionTest, EndsTheOthersWhenARankIsKilled) {
  start(3, [](Session& session) {
    auto communicator = open_waiting(session, seconds(100));
    if (session.group().rank == 2) ::raise(SIGKILL);
    communicator->run(barrier());
  });
  EXPECT_EQ(ranks_->wait(0, seconds(10)), 1);
  EXPECT_EQ(ranks_->wait(1, seconds(10)), 1);
  EXPECT_THAT(ranks_->errors_of(0), HasSubstr("rank 2 is gone"));
  EXPECT_THAT(ranks_->errors_of(1), HasSubstr("rank 2 is gone"));
}

TEST_F(SessionTest, EndsTheOthersWhenTheServingRankIsKilled) {
  start(2, [](Session& session) {
    auto communicator = open_waiting(session, seconds(100));
    if (session.group().rank == 1) session.store().set("opened", "yes");
    if (session.group().rank == 0) {
      session.store().get("opened", base::Deadline(seconds(10)));
      ::raise(SIGKILL);
    }
    communicator->run(barrier());
  });
  EXPECT_EQ(ranks_->wait(1, seconds(10)), 1);
  EXPECT_THAT(ranks_->errors_of(1), HasSubstr("lost the run's server"));
  EXPECT_TRUE(std::filesystem::is_empty(store_.path()));
}

TEST_F(SessionTest, NamesRanksThatNeverCome) {
  options_.join_timeout = milliseconds(500);
  ranks_ = std::make_unique<ForkedRanks>(2, [this](int rank) {
    const Registry registry("/nonexistent");
    return run_session(identity(rank, 3), registry, options_, [](Session&) {});
  });
  EXPECT_EQ(ranks_->wait(0, seconds(10)), 124);
  EXPECT_EQ(ranks_->wait(1, seconds(10)), 124);
  EXPECT_THAT(ranks_->errors_of(1), HasSubstr("rank 2 of 3 did not arrive within"));
}

TEST_F(SessionTest, LeavesTheWordsToTheLauncherThatServes) {
  RunServerOptions options;
  options.world = 2;
  options.key = key_;
  options.watched = true;
  RunServer server(options);
  ranks_ = std::make_unique<ForkedRanks>(2, [&](int rank) {
    Identity mine = identity(rank, 2);
    mine.launcher_serves = true;
    mine.master_addr = server.address();
    mine.master_port = server.port();
    const Registry registry("/nonexistent");
    return run_session(mine, registry, options_, [](Session& session) {
      if (session.group().rank == 1) throw std::runtime_error("something");
      open_waiting(session, seconds(100))->run(barrier());
    });
  });
  server.start({});
  EXPECT_EQ(ranks_->wait(0, seconds(10)), 1);
  EXPECT_EQ(ranks_->wait(1, seconds(10)), 1);
  EXPECT_EQ(ranks_->errors_of(0), "");
  EXPECT_EQ(ranks_->errors_of(1), "");
  EXPECT_EQ(server.verdict().value().message, "rank 1 failed: something");
}

}  // namespace
}  // namespace lockstep::comm::testing
