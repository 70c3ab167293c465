// What ranks tell each other to open p2p, and whom it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/p2p/arena_layout.h"
#include "lockstep/comm/p2p/peer_facts.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"
#include "tests/support/ranks.h"

namespace lockstep::comm::p2p {
namespace {

using ::testing::HasSubstr;

PeerFacts facts(std::uint64_t process, const std::string& host = "one", int multiprocessors = 132) {
  PeerFacts made;
  made.process = process;
  made.host = host;
  made.device = "abcdef";
  made.multiprocessors = multiprocessors;
  for (std::size_t i = 0; i < made.handle.size(); ++i) made.handle[i] = static_cast<unsigned char>(i * 37);
  return made;
}

template <typename Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(PeerFactsTest, SurviveTheStore) {
  const PeerFacts given = facts(0xfedcba9876543210u, "host.example", 16);
  const PeerFacts read = peer_facts_from(to_text(given));
  EXPECT_EQ(read.process, given.process);
  EXPECT_EQ(read.host, given.host);
  EXPECT_EQ(read.device, given.device);
  EXPECT_EQ(read.multiprocessors, 16);
  EXPECT_EQ(read.handle, given.handle);
}

TEST(PeerFactsTest, SurviveTheStoreWithoutANameOfTheHost) {
  EXPECT_EQ(peer_facts_from(to_text(facts(1, ""))).host, "");
}

TEST(PeerFactsTest, AreRefusedWhenTheyAreSomethingElse) {
  EXPECT_THROW(peer_facts_from("something else"), base::CommError);
  EXPECT_THROW(peer_facts_from("12 132 abc 00ff host"), base::CommError);
  EXPECT_THROW(peer_facts_from("12 132 abc " + std::string(2 * kHandleBytes, 'x') + " host"),
               base::CommError);
}

TEST(JoiningTest, RefusesRanksOfSeveralHostsByName) {
  EXPECT_THAT(message_of<base::ConfigError>([] {
                require_joinable({facts(1), facts(2, "two")}, 0);
              }),
              ::testing::AllOf(HasSubstr("rank 1 is on another host"), HasSubstr("nccl")));
  Group group{.rank = 0, .world = 4, .local_rank = 0, .local_world = 2, .host = "one"};
  EXPECT_THAT(message_of<base::ConfigError>([&] { require_one_host(group); }), HasSubstr("2 of the 4 ranks"));
}

TEST(JoiningTest, RefusesRanksOfOneProcess) {
  EXPECT_THAT(message_of<base::ConfigError>([] {
                require_joinable({facts(1), facts(7), facts(7)}, 2);
              }),
              HasSubstr("rank 1 is in the same one"));
  EXPECT_NO_THROW(require_joinable({facts(1), facts(7)}, 0));
}

TEST(JoiningTest, RefusesMoreRanksThanAnArenaHasRoomFor) {
  Group group{.rank = 0, .world = kMostRanks + 1, .local_rank = 0, .local_world = kMostRanks + 1, .host = ""};
  EXPECT_THAT(message_of<base::ConfigError>([&] { require_one_host(group); }), HasSubstr("at most 32"));
}

TEST(JoiningTest, GivesAllRanksTheBlocksThatTheSmallestSliceCanRun) {
  EXPECT_EQ(most_blocks({facts(1), facts(2)}), 32u);
  EXPECT_EQ(most_blocks({facts(1), facts(2, "one", 16)}), 16u);
  EXPECT_EQ(most_blocks({facts(1, "one", 0)}), 1u);
}

TEST(P2pPluginTest, SaysWhatItFoundOrWhyItCannotBeUsed) {
  lockstep::testing::expect_ranks_succeed(1, [](lockstep::testing::Rank&) {
    const PluginBackend backend("p2p", base::plugin_directory() / "backend_p2p.so");
    const Availability found = backend.availability();
    lockstep::testing::check(!found.detail.empty(), "nothing was said");
    lockstep::testing::check(found.available || !found.next_step.empty(), "no next step was given");
    std::printf("p2p: %s\n", found.detail.c_str());
  });
}

}  // namespace
}  // namespace lockstep::comm::p2p
