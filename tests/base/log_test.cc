// Tests of messages on standard error.
#include "lockstep/base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace lockstep::base {
namespace {

template <typename Action>
std::string standard_error_of(const Action& action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, AnInformationIsOneLine) {
  EXPECT_EQ(standard_error_of([] { log_info("two workers"); }), "two workers\n");
}

TEST(Log, AWarningSaysThatItIsOne) {
  EXPECT_EQ(standard_error_of([] { log_warning("slow link"); }), "warning: slow link\n");
}

TEST(Log, DebugIsSilentUnlessAskedFor) {
  ::unsetenv("LOCKSTEP_VERBOSE");
  EXPECT_EQ(standard_error_of([] { log_debug("port 4711"); }), "");
  ::setenv("LOCKSTEP_VERBOSE", "1", 1);
  EXPECT_EQ(standard_error_of([] { log_debug("port 4711"); }), "debug: port 4711\n");
  ::unsetenv("LOCKSTEP_VERBOSE");
}

}  // namespace
}  // namespace lockstep::base
