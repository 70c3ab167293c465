// The log of one rank.
#include "lockstep/launch/rank_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <vector>

#include "tests/launch/temporary_directory.h"

namespace lockstep::launch {
namespace {

class RankLogTest : public testing::Test {
 protected:
  RankLog log_at(const std::filesystem::path& file) {
    return RankLog(file, [this](const std::string& what) { troubles_.push_back(what); });
  }
  TemporaryDirectory directory_;
  std::vector<std::string> troubles_;
};

TEST_F(RankLogTest, a_rank_that_writes_nothing_leaves_no_file) {
  const auto file = directory_.path() / "logs" / "rank0.log";
  RankLog log = log_at(file);
  log.flush();
  EXPECT_FALSE(std::filesystem::exists(file.parent_path()));
}

TEST_F(RankLogTest, keeps_all_lines_in_the_file_and_the_last_ten_at_hand) {
  const auto file = directory_.path() / "logs" / "rank0.log";
  RankLog log = log_at(file);
  std::string all;
  for (int i = 0; i < 25; ++i) {
    log.add_line("line " + std::to_string(i));
    all += "line " + std::to_string(i) + "\n";
  }
  log.flush();
  EXPECT_EQ(text_of(file), all);
  ASSERT_EQ(log.last_lines().size(), RankLog::kLastLines);
  EXPECT_EQ(log.last_lines().front(), "line 15");
}

TEST_F(RankLogTest, a_directory_that_cannot_be_made_is_reported_once_and_lines_are_still_at_hand) {
  const auto file = directory_.path() / "file";
  std::ofstream(file) << "in the way";
  RankLog log = log_at(file / "rank0.log");
  for (int i = 0; i < 3; ++i) {
    log.add_line("line");
    log.flush();
  }
  EXPECT_EQ(troubles_.size(), 1U);
  EXPECT_EQ(log.last_lines().size(), 3U);
}

TEST_F(RankLogTest, a_full_disk_is_reported_once) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  RankLog log = log_at(directory_.path() / "rank0.log");
  for (int i = 0; i < 3; ++i) {
    log.add_line(std::string(80, 'x'));
    log.flush();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(troubles_.size(), 1U);
}

}  // namespace
}  // namespace lockstep::launch
