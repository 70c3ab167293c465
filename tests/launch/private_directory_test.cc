// Directories that do not outlive their owner.
#include "lockstep/launch/private_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <fstream>

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

}  // namespace
}  // namespace lockstep::launch
