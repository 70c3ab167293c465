// Tests of sizes, durations and rates as people type and read them.
#include "lockstep/base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep::base {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;

TEST(ParseBytes, ReadsPlainBytes) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("12B"), 12u);
}

TEST(ParseBytes, TakesBothSpellingsOfAUnitAsBinary) {
  for (const char* text : {"4K", "4k", "4KB", "4KiB", " 4 KiB "})
    EXPECT_EQ(parse_bytes(text), 4 * kKiB) << text;
  EXPECT_EQ(parse_bytes("2M"), 2 * kMiB);
  EXPECT_EQ(parse_bytes("3GiB"), 3 * kGiB);
  EXPECT_EQ(parse_bytes("1T"), 1024 * kGiB);
}

TEST(ParseBytes, TakesFractionsAndRoundsToWholeBytes) {
  EXPECT_EQ(parse_bytes("1.5MiB"), 3 * kMiB / 2);
  EXPECT_EQ(parse_bytes("44.7M"), 46'871'347u);  // 46,871,347.2
}

class NotASize : public ::testing::TestWithParam<const char*> {};

TEST_P(NotASize, IsRefusedByName) {
  try {
    parse_bytes(GetParam());
    ADD_FAILURE() << "was taken for a size";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, NotASize,
                         ::testing::Values("", "K", "4X", "4 K B", "-1", "nan", "inf", "4KK", "99999999999T",
                                           "1e30"));

TEST(ParseDuration, ReadsSecondsAndUnits) {
  EXPECT_EQ(parse_duration("2"), seconds(2));
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("50us"), microseconds(50));
  EXPECT_EQ(parse_duration("1.5m"), seconds(90));
  EXPECT_EQ(parse_duration("3min"), minutes(3));
  EXPECT_EQ(parse_duration("2h"), hours(2));
}

TEST(ParseDuration, RefusesWhatIsNone) {
  for (const char* text : {"", "ms", "-1s", "2 weeks", "1e20"})
    EXPECT_THROW(parse_duration(text), UsageError) << text;
}

TEST(ParseRate, IsASizeWithOrWithoutPerSecond) {
  EXPECT_EQ(parse_bytes_per_second("8K"), 8192.0);
  EXPECT_EQ(parse_bytes_per_second("8K/s"), 8192.0);
  EXPECT_THROW(parse_bytes_per_second("8K/h"), UsageError);
}

TEST(FormatBytes, ChoosesTheUnitAndThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(kKiB), "1.00 KiB");
  EXPECT_EQ(format_bytes(46'871'347), "44.7 MiB");
  EXPECT_EQ(format_bytes(256 * kMiB), "256 MiB");
}

TEST(FormatDuration, ChoosesTheUnitAndThreeDigits) {
  EXPECT_EQ(format_duration(Nanoseconds(999)), "999 ns");
  EXPECT_EQ(format_duration(Nanoseconds(1500)), "1.50 µs");
  EXPECT_EQ(format_duration(microseconds(12'300)), "12.3 ms");
  EXPECT_EQ(format_duration(seconds(123)), "123 s");
}

TEST(FormatRate, IsInDecimalGigabytes) {
  EXPECT_EQ(format_rate(8.31e9), "8.31 GB/s");
}

}  // namespace
}  // namespace lockstep::base
