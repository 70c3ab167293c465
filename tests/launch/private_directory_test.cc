// Directories that do not outlive their owner.
#include "lockstep/launch/private_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include <array>
#include <fstream>
#include <string>

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

TEST(PrivateDirectory, only_its_user_can_enter_it_and_it_goes_with_its_owner) {
  fs::path path;
  {
    const PrivateDirectory directory;
    path = directory.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    std::ofstream(path / "file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateDirectory, one_that_a_killed_launcher_left_is_removed_and_one_in_use_is_not) {
  const PrivateDirectory in_use;
  const fs::path abandoned = in_use.path().parent_path() / "lockstep-run-aband0";
  fs::create_directory(abandoned);
  const utimbuf long_ago{1000000, 1000000};
  utime(abandoned.c_str(), &long_ago);
  utime(in_use.path().c_str(), &long_ago);
  const PrivateDirectory next;
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(in_use.path()));
}

TEST(PrivateDirectory, goes_when_its_owner_is_killed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const PrivateDirectory directory;
    std::ofstream(directory.path() / "file") << "x";
    const std::string path = directory.path().string();
    [[maybe_unused]] const ssize_t ignored = write(ends[1], path.data(), path.size());
    pause();
  }
  std::array<char, 256> text{};
  ASSERT_GT(read(ends[0], text.data(), text.size() - 1), 0);
  EXPECT_TRUE(fs::exists(text.data()));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  for (int tries = 0; tries < 500 && fs::exists(text.data()); ++tries) usleep(10'000);
  EXPECT_FALSE(fs::exists(text.data()));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace lockstep::launch
