// Tests of the file descriptor that closes itself.
#include "lockstep/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace lockstep::base {
namespace {

UniqueFd open_null() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}
bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

TEST(UniqueFd, ClosesWhenItsOwnerGoes) {
  int number = -1;
  {
    const UniqueFd fd = open_null();
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, IsFalseWhenEmpty) {
  EXPECT_FALSE(UniqueFd());
  EXPECT_TRUE(open_null());
}

TEST(UniqueFd, MovesItsDescriptorAndClosesTheOneItReplaces) {
  UniqueFd first = open_null();
  UniqueFd second = open_null();
  const int replaced = first.get();
  const int kept = second.get();
  first = std::move(second);
  EXPECT_EQ(first.get(), kept);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_TRUE(is_open(kept));
}

TEST(UniqueFd, ReleaseHandsTheDescriptorOver) {
  UniqueFd fd = open_null();
  const UniqueFd other(fd.release());
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(other.get()));
}

}  // namespace
}  // namespace lockstep::base
