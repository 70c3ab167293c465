#include "lockstep/comm/rendezvous/token.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/error.h"
#include "tests/comm/rendezvous/forked_ranks.h"

namespace lockstep::comm {
namespace {

TEST(Token, IsRandomAndHas128Bits) {
  EXPECT_EQ(make_token().size(), 32U);
  EXPECT_NE(make_token(), make_token());
  EXPECT_EQ(token_bytes("000102030405060708090a0b0c0d0eFF").back(), '\xff');
}

TEST(Token, ThatIsNotHexadecimalIsRefusedWithoutShowingIt) {
  for (const std::string bad :
       {"", "12", "zz0102030405060708090a0b0c0d0eff", "000102030405060708090a0b0c0d0eff0"})
    try {
      token_bytes(bad);
      FAIL() << bad;
    } catch (const base::ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("LOCKSTEP_TOKEN"), std::string::npos);
    }
}

TEST(Token, DependsOnSecretAndPlace) {
  EXPECT_EQ(derive_token("s", "a:1"), derive_token("s", "a:1"));
  EXPECT_NE(derive_token("s", "a:1"), derive_token("s", "a:2"));
  EXPECT_NE(derive_token("s", "a:1"), derive_token("t", "a:1"));
}

TEST(UserSecret, IsMadeOnceByRacingProcessesAndReadableByTheUserOnly) {
  const testing::TemporaryDirectory directory;
  const std::filesystem::path state = directory.path() + "/state/lockstep";
  testing::ForkedRanks racers(8, [&](int rank) {
    std::ofstream(directory.path() + "/seen" + std::to_string(rank)) << user_secret(state);
    return 0;
  });
  for (int rank = 0; rank < 8; ++rank) ASSERT_EQ(racers.wait(rank), 0) << racers.errors_of(rank);
  const std::string secret = user_secret(state);
  EXPECT_EQ(secret.size(), 32U);
  for (int rank = 0; rank < 8; ++rank) {
    std::ifstream seen(directory.path() + "/seen" + std::to_string(rank));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(seen), {}), secret);
  }
  struct stat facts {};
  ASSERT_EQ(::stat((state / "secret").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(state), {}), 1) << "drafts are left behind";
}

TEST(UserSecret, ThatOthersCanReadIsRefused) {
  const testing::TemporaryDirectory directory;
  user_secret(directory.path());
  ::chmod((directory.path() + "/secret").c_str(), 0644);
  EXPECT_THROW(user_secret(directory.path()), base::StoreError);
}

TEST(ConstantTime, ComparesWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace lockstep::comm
