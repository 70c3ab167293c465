// Tests of deadlines and of the conversion between seconds and durations.
#include "lockstep/base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace lockstep::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Clock, SecondsConvertBothWays) {
  EXPECT_EQ(from_seconds(1.5), milliseconds(1500));
  EXPECT_EQ(from_seconds(50e-6), std::chrono::microseconds(50));
  EXPECT_DOUBLE_EQ(to_seconds(milliseconds(250)), 0.25);
}

TEST(Deadline, OfTheFutureHasTimeLeft) {
  const Deadline deadline(hours(1));
  EXPECT_FALSE(deadline.passed());
  EXPECT_GT(deadline.left(), hours(1) - std::chrono::minutes(5));
  EXPECT_LE(deadline.left(), hours(1));
}

TEST(Deadline, OfThePastHasPassedAndNothingIsLeft) {
  const Deadline deadline(now() - hours(1), milliseconds(1));
  EXPECT_TRUE(deadline.passed());
  EXPECT_EQ(deadline.left(), Nanoseconds(0));
  EXPECT_EQ(deadline.left_milliseconds(), 0);
}

// The steady clock counts from when the machine was started: an hour ago may lie before that.
TEST(Deadline, MayStartBeforeTheClockDid) {
  const TimePoint start = TimePoint{} - hours(1);
  EXPECT_EQ(Deadline(start, milliseconds(7)).at(), start + milliseconds(7));
  EXPECT_TRUE(Deadline(start, milliseconds(7)).passed());
}

TEST(Deadline, LiesAtTheStartPlusTheDuration) {
  const TimePoint start = now();
  EXPECT_EQ(Deadline(start, milliseconds(7)).at(), start + milliseconds(7));
}

TEST(Deadline, ThatNoClockCanReachSaturatesInsteadOfWrapping) {
  const Deadline deadline(Nanoseconds::max());
  EXPECT_EQ(deadline.at(), TimePoint::max());
  EXPECT_FALSE(deadline.passed());
}

TEST(Deadline, LeftMillisecondsIsRoundedUpSoThatPollDoesNotSpin) {
  const Deadline deadline(now() + hours(1), Nanoseconds(1));
  EXPECT_GT(deadline.left_milliseconds(), 0);
}

TEST(Deadline, LeftMillisecondsFitsAnIntHoweverFarTheDeadline) {
  EXPECT_EQ(Deadline(Nanoseconds::max()).left_milliseconds(), 3'600'000);
}

}  // namespace
}  // namespace lockstep::base
