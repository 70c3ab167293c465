// The parts of the nccl backend that need no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/buffer_use.h"
#include "lockstep/comm/cuda/regroup.h"
#include "lockstep/comm/nccl/shared_device.h"
#include "lockstep/comm/nccl/transport_log.h"
#include "lockstep/comm/nccl/unique_id.h"
#include "lockstep/comm/plugin_backend.h"
#include "lockstep/comm/registry.h"
#include "tests/support/ranks.h"

namespace lockstep::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TransportLogTest, NamesTheTransportsOfALog) {
  constexpr std::string_view kLog =
      "h:1:2 [0] NCCL INFO Using network Socket\n"
      "h:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
      "h:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/Socket/0/Shared\n"
      "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
      "h:1:2 [0] NCCL INFO Channel 02 : 0[0] -> 1[1] via SHM/direct/direct\n";
  EXPECT_THAT(transports_in(kLog), ElementsAre("NET/Socket", "P2P/CUMEM", "SHM/direct"));
}

TEST(TransportLogTest, FindsNothingInALogWithoutChannels) {
  EXPECT_THAT(transports_in("h:1:2 [0] NCCL INFO cudaDriverVersion 13000\n"), IsEmpty());
  EXPECT_THAT(transports_in(""), IsEmpty());
}

// A variable of the environment as the test wants it, and afterwards as it was.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name), before_(base::environment(name)) {
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~ScopedVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(SharedDeviceTest, TellsNcclWhatTheUserHasNotToldIt) {
  const ScopedVariable host("NCCL_HOSTID", nullptr), blocks("NCCL_MAX_CTAS", nullptr);
  const Group group{3, 4, 3, 4, "here"};
  adapt_to_shared_devices(group, false);
  EXPECT_EQ(base::environment("NCCL_HOSTID"), std::nullopt);
  EXPECT_EQ(base::environment("NCCL_MAX_CTAS"), "1");
  adapt_to_shared_devices(group, true);
  EXPECT_EQ(base::environment("NCCL_HOSTID"), "here-rank3");
}

TEST(SharedDeviceTest, LeavesWhatTheUserHasSet) {
  const ScopedVariable host("NCCL_HOSTID", "mine"), blocks("NCCL_MAX_CTAS", "4");
  adapt_to_shared_devices({0, 2, 0, 2, "here"}, true);
  EXPECT_EQ(base::environment("NCCL_HOSTID"), "mine");
  EXPECT_EQ(base::environment("NCCL_MAX_CTAS"), "4");
}

TEST(UniqueIdTest, SurvivesTheStore) {
  ncclUniqueId id{};
  for (std::size_t i = 0; i < sizeof(id.internal); ++i) id.internal[i] = static_cast<char>(i * 37);
  const ncclUniqueId read = unique_id_from(to_hexadecimal(id));
  EXPECT_TRUE(std::equal(std::begin(id.internal), std::end(id.internal), std::begin(read.internal)));
}

TEST(UniqueIdTest, RefusesSomethingElse) {
  EXPECT_THROW(unique_id_from("abc"), base::CommError);
  EXPECT_THROW(unique_id_from(std::string(2 * sizeof(ncclUniqueId::internal), 'x')), base::CommError);
}

TEST(RegroupTest, OrdersAGroupByKeyAndThenRank) {
  const std::vector<SplitVote> votes = {{0, 5, "a"}, {1, 0, "a"}, {0, 2, "b"}, {0, 2, "a"}};
  const std::optional<Group> last = group_after(votes, 0);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->rank, 2);
  EXPECT_EQ(last->world, 3);
  EXPECT_EQ(last->local_rank, 1);
  EXPECT_EQ(last->local_world, 2);
  EXPECT_EQ(group_after(votes, 2)->rank, 0);
  EXPECT_EQ(group_after(votes, 2)->local_world, 1);
  EXPECT_EQ(group_after(votes, 3)->rank, 1);
  EXPECT_EQ(group_after(votes, 3)->local_rank, 0);
  EXPECT_EQ(group_after(votes, 1)->world, 1);
}

TEST(RegroupTest, GivesNoGroupToANegativeColour) {
  EXPECT_FALSE(group_after({{-1, 0, "a"}, {0, 0, "a"}}, 0).has_value());
}

TEST(RegroupTest, SendsAVoteAsText) {
  const SplitVote vote = split_vote_from(to_text({-3, 7, "host.example"}));
  EXPECT_EQ(vote.colour, -3);
  EXPECT_EQ(vote.key, 7);
  EXPECT_EQ(vote.host, "host.example");
}

TEST(NcclOperationsTest, KnowWhichRanksReadAndWrite) {
  const Operation rooted = broadcast(host_buffer(nullptr, 1, ElementType::f32), 1, Purpose::parameter);
  EXPECT_TRUE(reads_input(rooted, 1));
  EXPECT_FALSE(reads_input(rooted, 0));
  EXPECT_TRUE(writes_output(rooted, 0));
  EXPECT_FALSE(writes_output(rooted, 1));
}

TEST(NcclLibraryTest, IsFoundOrSaysWhyNot) {
  const NcclLookup lookup = find_nccl();
  if (lookup.library == nullptr) {
    EXPECT_FALSE(lookup.why_absent.empty());
    EXPECT_FALSE(lookup.next_step.empty());
    return;
  }
  EXPECT_GE(lookup.library->version, 21400);
  EXPECT_NE(lookup.library->all_reduce, nullptr);
}

TEST(NcclPluginTest, SaysWhatItFoundOrWhyItCannotBeUsed) {
  lockstep::testing::expect_ranks_succeed(1, [](lockstep::testing::Rank&) {
    const PluginBackend backend("nccl", base::plugin_directory() / "backend_nccl.so");
    const Availability found = backend.availability();
    lockstep::testing::check(!found.detail.empty(), "nothing was said");
    lockstep::testing::check(found.available || !found.next_step.empty(), "no next step was given");
    std::printf("nccl: %s\n", found.detail.c_str());
  });
}

}  // namespace
}  // namespace lockstep::comm
