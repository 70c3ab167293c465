#include "lockstep/comm/rendezvous/key.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/meeting_file.h"
#include "tests/comm/rendezvous/forked_ranks.h"

namespace lockstep::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Key, IsRandomAndHas256Bits) {
  EXPECT_EQ(make_key().size(), 64U);
  EXPECT_NE(make_key(), make_key());
}

TEST(Key, ThatIsTooShortIsRefusedWithoutShowingIt) {
  EXPECT_THAT(complaint([] { check_key("hunter2"); }),
              AllOf(HasSubstr("LOCKSTEP_KEY has 7 characters"), ::testing::Not(HasSubstr("hunter2"))));
  check_key(make_key());
}

TEST(Proof, DependsOnKeyRoleAndEveryPiece) {
  const std::string proof = prove("key", "rank", {"nonce", "rest"});
  EXPECT_EQ(proof, prove("key", "rank", {"nonce", "rest"}));
  EXPECT_EQ(proof.size(), kProofBytes);
  EXPECT_NE(proof, prove("kez", "rank", {"nonce", "rest"}));
  EXPECT_NE(proof, prove("key", "server", {"nonce", "rest"}));
  EXPECT_NE(proof, prove("key", "rank", {"noncer", "est"}));
  EXPECT_NE(proof, prove("key", "rank", {"nonce"}));
}

TEST(ConstantTime, ComparesWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

class MeetingFileTest : public ::testing::Test {
 protected:
  std::size_t files() const {
    const auto all = std::filesystem::directory_iterator(store_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  const testing::TemporaryDirectory store_;
};

TEST_F(MeetingFileTest, GivesRacingRanksOneKeyThatOnlyTheirUserCanRead) {
  const std::filesystem::path store = store_.path() + "/not/there/yet";
  testing::ForkedRanks racers(8, [&](int rank) {
    MeetingFile file(store, "a job");
    std::ofstream(store_.path() + "/seen" + std::to_string(rank)) << file.read_or_make().key;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 0;
  });
  MeetingFile leader(store, "a job");
  const std::string key = leader.take_key();
  for (int rank = 0; rank < 8; ++rank) {
    ASSERT_EQ(racers.wait(rank), 0) << racers.errors_of(rank);
    std::ifstream seen(store_.path() + "/seen" + std::to_string(rank));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(seen), {}), key);
  }
}

TEST_F(MeetingFileTest, IsPrivateTellsWhereRank0ServesAndGoesWithIt) {
  MeetingFile other(store_.path(), "a job");
  const MeetingPoint before = other.read_or_make();
  EXPECT_FALSE(before.server.has_value());
  struct stat facts {};
  ASSERT_EQ(::stat(other.path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  {
    MeetingFile leader(store_.path(), "a job");
    EXPECT_EQ(leader.take_key(), before.key);
    leader.say({"10.0.0.7", 4002});
    EXPECT_EQ(other.read_or_make().key, before.key);
    EXPECT_EQ(other.read_or_make().server->port, 4002);
    EXPECT_NE(MeetingFile(store_.path(), "another job").read_or_make().key, before.key);
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(MeetingFileTest, GoesWithItsMakerWhereRank0NeverCame) {
  MeetingFile(store_.path(), "a job").read_or_make();
  EXPECT_EQ(files(), 0U);
}

TEST_F(MeetingFileTest, OfADeadRunIsReplaced) {
  const std::filesystem::path path = MeetingFile(store_.path(), "a job").path();
  const std::string old_key(64, 'a');
  std::ofstream(path) << old_key << "\n10.0.0.7 4002\n";
  ::chmod(path.c_str(), 0600);
  MeetingFile leader(store_.path(), "a job");
  const std::string key = leader.take_key();
  EXPECT_NE(key, old_key);
  MeetingFile other(store_.path(), "a job");
  EXPECT_EQ(other.read_or_make().key, key);
  EXPECT_FALSE(other.read_or_make().server.has_value());
}

TEST_F(MeetingFileTest, IsReadOnlyAsFarAsItsLinesAreWhole) {
  MeetingFile file(store_.path(), "a job");
  std::ofstream(file.path()) << std::string(64, 'a') << "\n10.0.0.7 40";
  ::chmod(file.path().c_str(), 0600);
  EXPECT_FALSE(file.read_or_make().server.has_value());
}

TEST_F(MeetingFileTest, ThatOthersCanReadOrThatHoldsNoKeyIsRefusedWithBothWaysOut) {
  MeetingFile file(store_.path(), "a job");
  file.read_or_make();
  ::chmod(file.path().c_str(), 0644);
  EXPECT_THAT(complaint([&] { file.read_or_make(); }),
              AllOf(HasSubstr("other users may read"), HasSubstr("--store"), HasSubstr("LOCKSTEP_KEY")));
  std::ofstream(file.path()) << "hello\n";
  ::chmod(file.path().c_str(), 0600);
  EXPECT_THAT(complaint([&] { file.read_or_make(); }), HasSubstr("it holds no key"));
  EXPECT_THAT(complaint([] { MeetingFile nowhere({}, "a job"); }),
              AllOf(HasSubstr("--store"), HasSubstr("LOCKSTEP_KEY")));
  EXPECT_THAT(complaint([] { MeetingFile("/proc/1/nowhere", "a job").read_or_make(); }),
              HasSubstr("No such file or directory"));
}

TEST_F(MeetingFileTest, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  MeetingFile file(store_.path(), "a job");
  file.read_or_make();
  ASSERT_EQ(::chown(file.path().c_str(), 65534, 65534), 0);
  EXPECT_THAT(complaint([&] { file.read_or_make(); }), HasSubstr("it belongs to another user"));
}

void age_by_a_day(const std::filesystem::path& path) {
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
}

TEST_F(MeetingFileTest, LeftBehindForADayIsSweptAway) {
  const std::filesystem::path left = MeetingFile(store_.path(), "long ago").path();
  const std::filesystem::path notes = store_.path() + "/meeting-notes.txt";
  const std::filesystem::path folder = store_.path() + "/meeting-room";
  std::ofstream(left) << make_key() << "\n";
  std::ofstream(notes) << "To be kept, whatever they are called.\n";
  std::filesystem::create_directory(folder);
  for (const auto& path : {left, notes}) {
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    age_by_a_day(path);
  }
  age_by_a_day(folder);
  MeetingFile(store_.path(), "a job").read_or_make();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(notes));
  EXPECT_TRUE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace lockstep::comm
