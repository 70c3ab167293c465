// Who can prove what to whom. Impostors and strangers are threads here that speak for themselves.
#include "lockstep/comm/rendezvous/handshake.h"

#include <gmock/gmock.h>

#include <future>
#include <random>

#include "tests/comm/rendezvous/run_fixture.h"

namespace lockstep::comm::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using State = ServerHandshake::State;

constexpr int kPort = 4000;
const Hello kHello{1, 2, "box/0123"};

TEST(Handshake, BetweenHoldersOfOneKeyProvesBoth) {
  const std::string key = make_key();
  ServerHandshake server(key, kPort);
  RankHandshake rank(key, kPort, kHello);
  EXPECT_EQ(server.take(rank.answer(server.greeting())), State::granted);
  EXPECT_EQ(server.hello().rank, 1);
  EXPECT_EQ(server.hello().host, "box/0123");
  EXPECT_TRUE(rank.is_proof(server.admission(State::granted)));
}

TEST(Handshake, IsReadInAnyPieces) {
  const std::string key = make_key();
  ServerHandshake server(key, kPort);
  RankHandshake rank(key, kPort, kHello);
  const std::string answer = rank.answer(server.greeting());
  for (std::size_t i = 0; i + 1 < answer.size(); ++i) {
    ASSERT_GT(server.wanted_bytes(), 0U);
    ASSERT_EQ(server.take(answer.substr(i, 1)), State::incomplete) << i;
  }
  EXPECT_EQ(server.wanted_bytes(), 1U);
  EXPECT_EQ(server.take(answer.substr(answer.size() - 1)), State::granted);
}

TEST(Handshake, FailsWithAnotherKeyPortOrClaim) {
  const std::string key = make_key();
  const auto outcome = [&key](const std::string& other_key, int port, std::size_t flipped) {
    ServerHandshake server(key, kPort);
    RankHandshake rank(other_key, port, kHello);
    std::string answer = rank.answer(server.greeting());
    if (flipped > 0) answer[answer.size() - flipped] ^= 1;
    return server.take(answer);
  };
  EXPECT_EQ(outcome(key, kPort, 0), State::granted);
  EXPECT_EQ(outcome(make_key(), kPort, 0), State::wrong_key);
  EXPECT_EQ(outcome(key, kPort + 1, 0), State::wrong_key);
  EXPECT_EQ(outcome(key, kPort, 1), State::wrong_key);  // another host's name
}

TEST(Handshake, ThatWasRecordedIsWorthNothing) {
  const std::string key = make_key();
  ServerHandshake server(key, kPort);
  RankHandshake rank(key, kPort, kHello);
  const std::string answer = rank.answer(server.greeting());
  ASSERT_EQ(server.take(answer), State::granted);
  const std::string admission = server.admission(State::granted);
  ServerHandshake next_server(key, kPort);
  EXPECT_EQ(next_server.take(answer), State::wrong_key);
  RankHandshake next_rank(key, kPort, kHello);
  next_rank.answer(server.greeting());
  EXPECT_FALSE(next_rank.is_proof(admission));
}

// What a rank says cannot be played back to it as the server's word.
TEST(Handshake, KeepsTheRolesApart) {
  const std::string key = make_key();
  RankHandshake rank(key, kPort, kHello);
  const std::string answer = rank.answer(ServerHandshake(key, kPort).greeting());
  const std::string proof = answer.substr(kMagicBytes + kNonceBytes, kProofBytes);
  EXPECT_FALSE(rank.is_proof(static_cast<char>(Admission::granted) + proof));
}

TEST(Handshake, SurvivesGarbage) {
  const std::string key = make_key();
  std::mt19937 random(1);
  ServerHandshake first(key, kPort);
  const std::string good = RankHandshake(key, kPort, kHello).answer(first.greeting());
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (int changes = 0; changes < 3; ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    ServerHandshake server(key, kPort);
    EXPECT_NE(server.take(bytes), State::granted);
  }
}

class Meeting : public RunTest {
 protected:
  void serve(int world) {
    server_ = std::make_unique<RunServer>(server_options(world));
    server_->start({});
  }
  static std::string complaint(const RunClientOptions& options) {
    const OperationBoards boards;
    try {
      RunClient client(options, boards);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "it was let in";
  }
  RunClientOptions options_for(int port) const {
    RunClientOptions options;
    options.address = "127.0.0.1";
    options.port = port;
    options.key = key_;
    options.join_timeout = seconds(20);
    return options;
  }
};

// Listens at a port of loopback, says something to each of a number of callers, and keeps what they said.
class Impostor {
 public:
  Impostor(std::string greeting, std::string second_word, int callers)
      : listener_(listen_at({"127.0.0.1", 0})) {
    heard_ = std::async(std::launch::async, [=, this] {
      std::string heard;
      for (int i = 0; i < callers; ++i) heard += attend(greeting, second_word);
      return heard;
    });
  }
  int port() const { return port_of(listener_.get()); }
  std::string heard() { return heard_.get(); }

 private:
  std::string attend(const std::string& greeting, const std::string& second_word) const {
    bool out_of_files = false;
    std::string heard;
    if (!wait_readable(listener_.get(), base::Deadline(seconds(10)))) return heard;
    const auto caller = accept_one(listener_.get(), out_of_files);
    if (!caller) return heard;
    write_all(caller->get(), greeting, base::Deadline(seconds(1)));
    const std::size_t least = second_word.empty() ? 1 : kAnswerHeadBytes;
    while (heard.size() < least && wait_readable(caller->get(), base::Deadline(milliseconds(500))))
      if (read_some(caller->get(), heard, 1000) == ReadResult::closed) break;
    write_all(caller->get(), second_word, base::Deadline(seconds(1)));
    while (wait_readable(caller->get(), base::Deadline(seconds(1))))
      if (read_some(caller->get(), heard, 1000) == ReadResult::closed) break;
    return heard;
  }

  base::UniqueFd listener_;
  std::future<std::string> heard_;
};

std::string greeting_of(char version) {
  return std::string("LKS") + version + make_nonce();
}

TEST_F(Meeting, WithAnImpostorShowsItNothingThatOpensTheRealServer) {
  Impostor impostor(greeting_of(kProtocolVersion),
                    std::string(kAdmissionBytes, static_cast<char>(Admission::granted)), 5);
  EXPECT_THAT(complaint(options_for(impostor.port())), HasSubstr("cannot show that it holds this run's key"));
  const std::string heard = impostor.heard();
  EXPECT_THAT(heard, Not(HasSubstr(key_)));
  // Every caller said its answer and not a byte more.
  RankHandshake rank(key_, impostor.port(), {0, 1, ""});
  const std::string answer = rank.answer(greeting_of(kProtocolVersion));
  ASSERT_EQ(heard.size(), 5 * answer.size());
  serve(1);
  std::string why;
  for (int i = 0; i < 5; ++i) {
    const auto fd = connect_once({server_->address(), server_->port()}, base::Deadline(seconds(5)), why);
    ASSERT_TRUE(fd.has_value()) << why;
    const std::string replayed = heard.substr(static_cast<std::size_t>(i) * answer.size(), answer.size());
    ASSERT_TRUE(write_all(fd->get(), replayed, base::Deadline(seconds(1))));
    std::string said;
    EXPECT_TRUE(
        eventually([&] { return read_some(fd->get(), said, 1000) == ReadResult::closed; }, seconds(2)));
    ASSERT_GT(said.size(), kGreetingBytes);
    EXPECT_EQ(said[kGreetingBytes], static_cast<char>(Admission::wrong_key));
  }
}

TEST_F(Meeting, TellsAWrongKeyFromAStrangerFromAnotherVersion) {
  serve(1);
  RunClientOptions options = client_options(0, 1);
  options.key = make_key();
  EXPECT_THAT(complaint(options), AllOf(HasSubstr("holds another key than this rank"),
                                        HasSubstr("LOCKSTEP_KEY"), HasSubstr("Next step")));
  Impostor mail("220 mail.example.org ESMTP ready at your service\r\n", "", 5);
  EXPECT_THAT(complaint(options_for(mail.port())), HasSubstr("is no Lockstep server"));
  Impostor later(greeting_of(kProtocolVersion + 1), "", 5);
  EXPECT_THAT(complaint(options_for(later.port())),
              AllOf(HasSubstr("its server speaks version 3 of the protocol, this rank version 2"),
                    HasSubstr("same installation")));
}

TEST_F(Meeting, NamesARankWithAnotherKeyWhereRanksAreMissing) {
  RunServerOptions options = server_options(2);
  options.join_timeout = seconds(2);
  server_ = std::make_unique<RunServer>(options);
  server_->start({});
  RunClientOptions other = client_options(1, 2);
  other.key = make_key();
  other.host = "box/77";
  EXPECT_THAT(complaint(other), HasSubstr("another key"));
  EXPECT_THAT(complaint(client_options(0, 2)),
              AllOf(HasSubstr("rank 1 of 2 did not arrive"), HasSubstr("(--join-timeout). While it waited"),
                    HasSubstr("rank 1 of 2 on host box called with another key"),
                    HasSubstr("do not share one store")));
}

TEST_F(Meeting, NamesARankOfAnOlderVersionWhereRanksAreMissing) {
  RunServerOptions options = server_options(2);
  options.join_timeout = seconds(2);
  server_ = std::make_unique<RunServer>(options);
  server_->start({});
  std::string why;
  const auto old = connect_once({server_->address(), server_->port()}, base::Deadline(seconds(5)), why);
  ASSERT_TRUE(old.has_value()) << why;
  ASSERT_TRUE(write_all(old->get(), "LKS\x01" + std::string(16, 't'), base::Deadline(seconds(1))));
  EXPECT_THAT(complaint(client_options(0, 2)), HasSubstr("a rank of another version of Lockstep called"));
}

TEST_F(Meeting, IsNotHeldUpBySilentStrangers) {
  serve(1);
  std::vector<base::UniqueFd> silent;
  std::string why;
  for (int i = 0; i < 10; ++i)
    if (auto fd = connect_once({server_->address(), server_->port()}, base::Deadline(seconds(5)), why))
      silent.push_back(std::move(*fd));
  ASSERT_EQ(silent.size(), 10U);
  const base::TimePoint start = base::now();
  const OperationBoards boards;
  RunClient client(client_options(0, 1), boards);
  EXPECT_LT(base::now() - start, seconds(1));  // a stranger may stay for two
  client.goodbye();
}

// Of two hosts without a common store each makes a key of its own.
TEST_F(Meeting, NamesAStoreThatIsNotShared) {
  serve(2);
  RunClientOptions options = client_options(1, 2);
  options.find_server = [&] {
    return MeetingPoint{make_key(), Endpoint{server_->address(), server_->port()}, false};
  };
  options.find_server_in = "/home/me/store/meeting-x";
  EXPECT_THAT(complaint(options), AllOf(HasSubstr("the store is not shared between the hosts"),
                                        HasSubstr("/home/me/store/meeting-x"), HasSubstr("--store"),
                                        HasSubstr("export LOCKSTEP_KEY")));
}

// What the file said may be an earlier run's: it is read again before every attempt.
TEST_F(Meeting, GoesByTheFilesLatestWord) {
  serve(1);
  RunClientOptions options = client_options(0, 1);
  int asked = 0;
  options.find_server = [&] {
    ++asked;
    return MeetingPoint{asked < 8 ? make_key() : key_, Endpoint{server_->address(), server_->port()}, true};
  };
  const OperationBoards boards;
  RunClient client(options, boards);
  EXPECT_EQ(asked, 8);
  client.goodbye();
}

}  // namespace
}  // namespace lockstep::comm::testing
