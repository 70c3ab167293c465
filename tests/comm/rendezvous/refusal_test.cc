// Who is not let in, and that nobody of those disturbs the run. Clients are threads here, so that the thread
// sanitizer sees both sides.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <future>
#include <random>

#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/gate.h"
#include "lockstep/comm/rendezvous/protocol.h"
#include "lockstep/comm/rendezvous/socket.h"
#include "tests/comm/rendezvous/run_fixture.h"

namespace lockstep::comm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Refusal : public RunTest {
 protected:
  void serve(int world) {
    server_ = std::make_unique<RunServer>(server_options(world));
    server_->start({});
  }
  std::string complaint(const RunClientOptions& options) {
    const OperationBoards boards;
    try {
      RunClient client(options, boards);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "it was let in";
  }
  base::UniqueFd connect() {
    std::string why;
    auto fd = connect_once({server_->address(), server_->port()}, base::Deadline(seconds(5)), why);
    EXPECT_TRUE(fd.has_value()) << why;
    return fd ? std::move(*fd) : base::UniqueFd();
  }
  // Whether the server closes the connection in time.
  static bool is_closed(int fd, base::Nanoseconds patience) {
    return eventually(
        [fd] {
          std::string ignored;
          return read_some(fd, ignored, 100) == ReadResult::closed;
        },
        patience);
  }
};

TEST_F(Refusal, NamesAnotherWorldAndARankOutsideIt) {
  serve(2);
  EXPECT_THAT(complaint(client_options(0, 3)), HasSubstr("world of 3, but this run has a world of 2"));
  EXPECT_THAT(complaint(client_options(2, 2)), HasSubstr("no rank 2 in a world of 2"));
}

TEST_F(Refusal, NamesASecondProcessOfTheSameRankAndLetsTheFirstGoOn) {
  serve(1);
  const OperationBoards boards;
  RunClient first(client_options(0, 1), boards);
  EXPECT_THAT(complaint(client_options(0, 1)), HasSubstr("rank 0 has joined this run already"));
  EXPECT_EQ(first.add("still here", 1), 1);
  first.goodbye();
  EXPECT_FALSE(server_->verdict().has_value());
}

TEST_F(Refusal, OfAPortInUseSaysWhatToDo) {
  serve(1);
  RunServerOptions options = server_options(1);
  options.port = server_->port();
  try {
    const RunServer second(options);
    FAIL() << "two servers at one port";
  } catch (const base::CommError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(options.port)));
    EXPECT_THAT(error.what(), HasSubstr("choose another port"));
  }
}

TEST_F(Refusal, GivesUpOnAServerThatIsNotThere) {
  serve(1);
  RunClientOptions options = client_options(0, 1);
  server_.reset();
  options.join_timeout = milliseconds(300);
  EXPECT_THAT(complaint(options),
              AllOf(HasSubstr("could not reach the run's server"), HasSubstr("Next step: start all ranks")));
}

TEST_F(Refusal, SaysOfAListenerThatNeverAnswersThatItDoesNotAnswer) {
  server_ = std::make_unique<RunServer>(server_options(1));  // it listens, and nobody serves
  RunClientOptions options = client_options(0, 1);
  options.join_timeout = milliseconds(300);
  EXPECT_THAT(complaint(options), AllOf(HasSubstr("takes the connection and does not answer"),
                                        HasSubstr("another program has this port")));
}

TEST_F(Refusal, WaitsForAServerThatStartsLater) {
  server_ = std::make_unique<RunServer>(server_options(1));
  RunClientOptions options = client_options(0, 1);
  server_.reset();
  auto joined = std::async(std::launch::async, [&] {
    const OperationBoards boards;
    RunClient client(options, boards);
    client.goodbye();
    return true;
  });
  std::this_thread::sleep_for(milliseconds(200));
  RunServerOptions same_port = server_options(1);
  same_port.port = options.port;
  server_ = std::make_unique<RunServer>(same_port);
  server_->start({});
  EXPECT_TRUE(joined.get());
}

TEST_F(Refusal, ClosesAStrangerAtTheFirstWrongByte) {
  serve(1);
  const base::UniqueFd stranger = connect();
  ASSERT_TRUE(write_all(stranger.get(), "G", base::Deadline(seconds(1))));
  EXPECT_TRUE(is_closed(stranger.get(), seconds(1)));
}

TEST_F(Refusal, ClosesAStrangerThatKeepsSilent) {
  serve(1);
  const base::UniqueFd stranger = connect();
  EXPECT_TRUE(is_closed(stranger.get(), seconds(5)));
}

TEST_F(Refusal, ClosesWhoHoldsTheKeyAndThenTalksNonsense) {
  serve(1);
  const base::UniqueFd nonsense = connect();
  RankHandshake handshake(key_, server_->port(), {0, 1, "here"});
  std::string greeting;
  ASSERT_TRUE(eventually([&] {
    read_some(nonsense.get(), greeting, kGreetingBytes - greeting.size());
    return greeting.size() == kGreetingBytes;
  }));
  const std::string bytes = handshake.answer(greeting) + std::string(100, '\xff');
  ASSERT_TRUE(write_all(nonsense.get(), bytes, base::Deadline(seconds(1))));
  EXPECT_TRUE(is_closed(nonsense.get(), seconds(1)));
}

TEST_F(Refusal, DropsTheOldestOfTooManyStrangers) {
  serve(1);
  const base::UniqueFd oldest = connect();
  std::vector<base::UniqueFd> idle;
  for (std::size_t i = 0; i < Gate::kMostWaiting; ++i) idle.push_back(connect());
  EXPECT_TRUE(is_closed(oldest.get(), milliseconds(1500)));
}

// What strangers do to the port while a run uses it.
void send_garbage(const Endpoint& server, unsigned seed) {
  std::mt19937 random(seed);
  std::string why;
  auto fd = connect_once(server, base::Deadline(seconds(1)), why);
  if (!fd) return;
  std::string bytes = seed % 2 == 0 ? std::string("LKS") + kProtocolVersion : "";
  while (bytes.size() < 200) bytes.push_back(static_cast<char>(random()));
  write_all(fd->get(), bytes, base::Deadline(seconds(1)));
}

// Returns how much of 100 MB of zeros the kernel and the server took.
std::size_t send_zeros(const Endpoint& server) {
  std::string why;
  auto fd = connect_once(server, base::Deadline(seconds(1)), why);
  const std::string block(1 << 20, '\0');
  std::size_t sent = 0;
  while (fd && sent < 100 * block.size() && write_all(fd->get(), block, base::Deadline(seconds(3))))
    sent += block.size();
  return sent;
}

int hammer(const Endpoint& server) {
  std::vector<base::UniqueFd> idle;
  std::string why;
  for (unsigned round = 0;; ++round) {
    for (unsigned i = 0; i < 20; ++i) send_garbage(server, round * 20 + i);
    if (send_zeros(server) >= std::size_t{100} << 20) return 1;
    for (int i = 0; i < 300; ++i)
      if (auto fd = connect_once(server, base::Deadline(seconds(1)), why)) idle.push_back(std::move(*fd));
    if (idle.size() > 600) idle.clear();
  }
}

TEST_F(Refusal, OfStrangersDoesNotDisturbARun) {
  server_ = std::make_unique<RunServer>(server_options(3));
  const Endpoint server{server_->address(), server_->port()};
  ForkedRanks strangers(2, [&](int) { return hammer(server); });
  ranks_ = std::make_unique<ForkedRanks>(3, [&](int number) {
    std::this_thread::sleep_for(milliseconds(300));
    const OperationBoards boards;
    RunClient client(client_options(number, 3), boards);
    for (int round = 1; round <= 1000; ++round) {
      const std::string key = "barrier" + std::to_string(round);
      if (client.add(key, 1) == 3) client.set(key + "/open", "yes");
      if (client.get(key + "/open", base::Deadline(seconds(10))) != "yes") return 1;
    }
    client.goodbye();
    return 0;
  });
  server_->start({});
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(ranks_->wait(rank, seconds(60)), 0) << ranks_->errors_of(rank);
  EXPECT_EQ(server_->finished(), 3);
  EXPECT_FALSE(server_->verdict().has_value());
  EXPECT_FALSE(strangers.wait(0, milliseconds(1)).has_value()) << "the server swallowed 100 MB of zeros";
}

}  // namespace
}  // namespace lockstep::comm::testing
