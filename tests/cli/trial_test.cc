#include "lockstep/cli/doctor/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>

#include "lockstep/cli/doctor/finding.h"

namespace lockstep::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Trial, keeps_output_and_exit_code_of_a_program) {
  const TrialResult result = try_program({"sh", "-c", "echo one; echo two >&2; exit 3"}, seconds(10));
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "one\ntwo\n");
  EXPECT_EQ(result.complaint(), "exit code 3: two");
}

TEST(Trial, says_that_a_program_cannot_be_started) {
  const TrialResult result = try_program({"no-such-program-here"}, seconds(10));
  EXPECT_FALSE(result.well());
  EXPECT_THAT(result.output, ::testing::HasSubstr("No such file"));
}

TEST(Trial, ends_a_program_that_does_not_end_by_itself) {
  const base::TimePoint start = base::now();
  const TrialResult result = try_program({"sleep", "60"}, milliseconds(100));
  EXPECT_FALSE(result.ended);
  EXPECT_LT(base::now() - start, seconds(20));
}

TEST(Trial, a_crash_or_an_exception_inside_a_process_harms_nobody) {
  EXPECT_EQ(try_in_process([]() -> std::string { ::abort(); }, seconds(10)).exit_code, 128 + SIGABRT);
  const TrialResult thrown =
      try_in_process([]() -> std::string { throw std::runtime_error("no device"); }, seconds(10));
  EXPECT_EQ(thrown.exit_code, 1);
  EXPECT_EQ(thrown.output, "no device");
  EXPECT_EQ(try_in_process([] { return std::string("fine"); }, seconds(10)).output, "fine");
}

TEST(Findings, only_something_essential_makes_the_doctor_fail) {
  EXPECT_EQ(exit_code_of({{"gpu", "cuda", Health::missing, "no driver"}}), 0);
  EXPECT_EQ(exit_code_of({{"machine", "shared memory", Health::broken, "refused", "", true}}), 4);
}

}  // namespace
}  // namespace lockstep::cli
