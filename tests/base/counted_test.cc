#include "lockstep/base/counted.h"

#include <gtest/gtest.h>

namespace lockstep::base {
namespace {

TEST(Counted, OneIsSingularAndNothingIsNot) {
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(2, "run"), "2 runs");
  EXPECT_EQ(counted(0, "run"), "0 runs");
}

TEST(Counted, AnotherPluralMayBeGiven) {
  EXPECT_EQ(counted(1, "directory", "directories"), "1 directory");
  EXPECT_EQ(counted(3, "directory", "directories"), "3 directories");
}

}  // namespace
}  // namespace lockstep::base
