// What ranks tell each other to open p2p, and whom it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/p2p/arena_layout.h"
#include "lockstep/comm/p2p/peer_facts.h"
#include "lockstep/comm/p2p/shared_words.h"
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
  made.memory_waits = true;
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
  PeerFacts given = facts(0xfedcba9876543210u, "host.example", 16);
  given.settings = {"kernel", 7};
  const PeerFacts read = peer_facts_from(to_text(given));
  EXPECT_EQ(read.process, given.process);
  EXPECT_EQ(read.host, given.host);
  EXPECT_EQ(read.device, given.device);
  EXPECT_EQ(read.multiprocessors, 16);
  EXPECT_TRUE(read.memory_waits);
  EXPECT_EQ(read.settings.waiting, "kernel");
  EXPECT_EQ(read.settings.most_blocks, 7);
}

TEST(PeerFactsTest, HandleOfAnArenaSurvivesTheStore) {
  HandleBytes given{};
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<unsigned char>(i * 37);
  EXPECT_EQ(handle_from(text_of(given)), given);
  EXPECT_THROW(handle_from("none"), base::CommError);
  EXPECT_THROW(handle_from(std::string(2 * kHandleBytes, 'x')), base::CommError);
}

TEST(PeerFactsTest, SurviveTheStoreWithoutANameOfTheHost) {
  EXPECT_EQ(peer_facts_from(to_text(facts(1, ""))).host, "");
}

TEST(PeerFactsTest, AreRefusedWhenTheyAreSomethingElse) {
  EXPECT_THROW(peer_facts_from("something else"), base::CommError);
  EXPECT_THROW(peer_facts_from("12 132 abc 1 auto host"), base::CommError);
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
  EXPECT_EQ(most_blocks({facts(1), facts(2)}, Waiting::blocks), 32u);
  EXPECT_EQ(most_blocks({facts(1), facts(2, "one", 16)}, Waiting::blocks), 16u);
  EXPECT_EQ(most_blocks({facts(1, "one", 0)}, Waiting::blocks), 1u);
}

TEST(JoiningTest, GivesKernelsThatNeverWaitTwiceAsManyBlocks) {
  EXPECT_EQ(most_blocks({facts(1), facts(2)}, Waiting::memory), 64u);
  EXPECT_EQ(most_blocks({facts(1), facts(2, "one", 16)}, Waiting::memory), 32u);
}

TEST(JoiningTest, KeepsToTheBlocksThatTheEnvironmentAllows) {
  std::vector<PeerFacts> all = {facts(1), facts(2, "one", 16)};
  for (PeerFacts& each : all) each.settings.most_blocks = 2;
  EXPECT_EQ(most_blocks(all, Waiting::blocks), 2u);
  EXPECT_EQ(most_blocks(all, Waiting::memory), 2u);
}

std::vector<PeerFacts> two_ranks(const std::string& device_of_the_second,
                                 const std::string& waiting = "auto") {
  std::vector<PeerFacts> all = {facts(1), facts(2)};
  all[1].device = device_of_the_second;
  for (PeerFacts& each : all) each.settings.waiting = waiting;
  return all;
}

TEST(WaitingTest, IsInPhasesWhereAnyTwoShareAGpu) {
  EXPECT_EQ(waiting_of(two_ranks("another"), 0), Waiting::blocks);
  EXPECT_EQ(waiting_of(two_ranks("abcdef"), 1), Waiting::memory);
  std::vector<PeerFacts> three = two_ranks("another");
  three.push_back(facts(3));
  EXPECT_TRUE(share_a_gpu(three));
  EXPECT_EQ(waiting_of(three, 2), Waiting::memory);
}

TEST(WaitingTest, IsRefusedWhereRanksShareAGpuAndAnyOnesStreamsCannot) {
  std::vector<PeerFacts> all = two_ranks("abcdef");
  all[1].memory_waits = false;
  EXPECT_THAT(message_of<base::ConfigError>([&] { waiting_of(all, 0); }),
              ::testing::AllOf(HasSubstr("rank 1"), HasSubstr("LOCKSTEP_P2P_WAIT=blocks")));
  for (PeerFacts& each : all) each.settings.waiting = "blocks";
  EXPECT_EQ(waiting_of(all, 0), Waiting::blocks);
}

TEST(WaitingTest, IsWhatAllRanksAreTold) {
  EXPECT_EQ(waiting_of(two_ranks("abcdef", "blocks"), 0), Waiting::blocks);
  EXPECT_EQ(waiting_of(two_ranks("another", "memory"), 0), Waiting::memory);
}

TEST(WaitingTest, IsRefusedByNameWhereRanksAreToldDifferentThings) {
  std::vector<PeerFacts> all = two_ranks("abcdef");
  all[1].settings.waiting = "blocks";
  EXPECT_THAT(message_of<base::ConfigError>([&] { waiting_of(all, 0); }),
              ::testing::AllOf(HasSubstr("LOCKSTEP_P2P_WAIT is auto here and blocks on rank 1")));
  all = two_ranks("abcdef");
  all[0].settings.most_blocks = 2;
  EXPECT_THAT(message_of<base::ConfigError>([&] { waiting_of(all, 1); }), HasSubstr("LOCKSTEP_P2P_BLOCKS"));
}

TEST(WaitingTest, IsReadFromTheEnvironment) {
  ::setenv("LOCKSTEP_P2P_WAIT", "memory", 1);
  ::setenv("LOCKSTEP_P2P_BLOCKS", "2", 1);
  EXPECT_EQ(WaitSettings::from_environment().waiting, "memory");
  EXPECT_EQ(WaitSettings::from_environment().most_blocks, 2);
  ::setenv("LOCKSTEP_P2P_WAIT", "somehow", 1);
  EXPECT_THAT(message_of<base::ConfigError>([] { WaitSettings::from_environment(); }), HasSubstr("somehow"));
  ::unsetenv("LOCKSTEP_P2P_WAIT");
  ::unsetenv("LOCKSTEP_P2P_BLOCKS");
  EXPECT_EQ(WaitSettings::from_environment().waiting, "auto");
}

// The words of a group, all ranks in this process.
class SharedWordsTest : public ::testing::Test {
 protected:
  SharedWordsTest() {
    words_.push_back(SharedWords::create(0, kWorld));
    for (int rank = 1; rank < kWorld; ++rank)
      words_.push_back(SharedWords::open(words_[0]->invitation(), rank, kWorld));
  }
  RankWords& of(int rank) { return reinterpret_cast<RankWords*>(words_[0]->data())[rank]; }
  // As the kernels of `rank` leave it when it has put an operation's data in place.
  void publish(int rank) {
    ++of(rank).begun;
    of(rank).awaits = static_cast<std::uint32_t>(Meeting::ready);
    for (int peer = 0; peer < kWorld; ++peer) {
      of(rank).met[static_cast<int>(Meeting::read)][peer] = 0;
      of(peer).met[static_cast<int>(Meeting::ready)][rank] = came(7);
    }
  }
  static constexpr int kWorld = 3;
  std::vector<std::unique_ptr<SharedWords>> words_;
};

TEST_F(SharedWordsTest, BeginAsIfAllHadReadEverything) {
  for (int rank = 0; rank < kWorld; ++rank) {
    EXPECT_EQ(of(rank).met[static_cast<int>(Meeting::read)][0], kCame);
    EXPECT_EQ(of(rank).met[static_cast<int>(Meeting::taken)][kMostRanks - 1], kCame);
    EXPECT_EQ(of(rank).met[static_cast<int>(Meeting::ready)][0], 0u);
  }
}

TEST_F(SharedWordsTest, TellWhoDidNotComeFromWhoseDeviceDidNotGetToIt) {
  for (int rank = 0; rank < kWorld; ++rank) words_[static_cast<std::size_t>(rank)]->submitted(barrier());
  publish(0);
  publish(2);
  EXPECT_EQ(words_[0]->late_in_phases(barrier()).cause, Cause::not_reached);
  EXPECT_EQ(words_[0]->late_in_phases(barrier()).rank, 1);
  of(1).submitted = 0;
  EXPECT_EQ(words_[0]->late_in_phases(barrier()).cause, Cause::not_submitted);
  EXPECT_EQ(words_[2]->late_in_phases(barrier()).rank, 1);
  EXPECT_EQ(words_[1]->late_in_phases(barrier()).cause, Cause::own_device);
  EXPECT_THAT(words_[0]->progress(true),
              HasSubstr("rank 0 has submitted 1, begun 1, ended 0; rank 1 has submitted 0"));
}

TEST_F(SharedWordsTest, FollowAChainOfWaitingRanksToItsEnd) {
  for (int rank = 0; rank < kWorld; ++rank) words_[static_cast<std::size_t>(rank)]->submitted(barrier());
  publish(0);
  // Rank 1 still waits for rank 2 to have read what was before.
  of(1).met[static_cast<int>(Meeting::read)][2] = 0;
  publish(2);
  of(2).awaits = static_cast<std::uint32_t>(Meeting::read);
  of(2).met[static_cast<int>(Meeting::read)][0] = of(2).met[static_cast<int>(Meeting::read)][1] = kCame;
  EXPECT_EQ(words_[0]->late_in_phases(barrier()).rank, 2);
}

TEST_F(SharedWordsTest, TellOfARankThatHasLeft) {
  publish(0);
  publish(1);
  words_[2].reset();
  EXPECT_EQ(words_[0]->late_in_phases(barrier()).cause, Cause::ended);
  EXPECT_EQ(words_[0]->late_in_phases(barrier()).rank, 2);
}

TEST_F(SharedWordsTest, CountMessagesByPeer) {
  const Operation in = receive({}, 1, Purpose::gradient), out = send({}, 0, Purpose::gradient);
  words_[0]->submitted(in);
  EXPECT_EQ(words_[0]->late_in_phases(in).cause, Cause::not_submitted);
  words_[1]->submitted(out);
  EXPECT_EQ(words_[0]->late_in_phases(in).cause, Cause::not_reached);
  words_[0]->completed(in);
  words_[0]->submitted(in);
  EXPECT_EQ(words_[0]->late_in_phases(in).cause, Cause::not_submitted);
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
