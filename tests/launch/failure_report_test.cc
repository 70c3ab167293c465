// What is said about a failed run, and its exit code.
#include "lockstep/launch/failure_report.h"

#include <gmock/gmock.h>

namespace lockstep::launch {
namespace {

using testing::ElementsAre;

TEST(FailureReport, names_cause_last_lines_collateral_and_logs) {
  FailureFacts facts;
  facts.message = "rank 1 exited with code 7";
  facts.rank = 1;
  facts.last_lines = {"step 3", "oh no"};
  facts.collateral = {0, 2};
  facts.log_directory = "some/logs";
  EXPECT_THAT(
      failure_report(facts),
      ElementsAre("error: rank 1 exited with code 7", "the last lines of rank 1:", "    step 3", "    oh no",
                  "ranks 0, 2 were ended because of it; the ranks' logs are in some/logs"));
}

TEST(FailureReport, says_that_the_rank_wrote_nothing_and_where_the_others_logs_are) {
  FailureFacts facts;
  facts.message = "rank 1 was killed by signal 9 (SIGKILL)";
  facts.rank = 1;
  EXPECT_THAT(failure_report(facts),
              ElementsAre("error: rank 1 was killed by signal 9 (SIGKILL)",
                          "rank 1 wrote nothing, nor did any other rank: there are no logs"));
  facts.log_directory = "some/logs";
  EXPECT_THAT(failure_report(facts), ElementsAre("error: rank 1 was killed by signal 9 (SIGKILL)",
                                                 "rank 1 wrote nothing", "the ranks' logs are in some/logs"));
}

TEST(FailureReport, says_only_what_there_is_to_say) {
  FailureFacts facts;
  facts.message = "it failed";
  EXPECT_THAT(failure_report(facts), ElementsAre("error: it failed"));
  facts.collateral = {3};
  EXPECT_THAT(failure_report(facts), ElementsAre("error: it failed", "rank 3 was ended because of it"));
}

TEST(FailureReport, counts_the_collateral_where_a_list_would_be_long) {
  FailureFacts facts;
  facts.message = "it failed";
  for (int rank = 1; rank < 500; ++rank) facts.collateral.push_back(rank);
  EXPECT_THAT(failure_report(facts),
              ElementsAre("error: it failed", "499 other ranks were ended because of it"));
}

TEST(FailureReport, passes_the_exit_codes_through_that_mean_something) {
  for (const int code : {2, 3, 4, 5, 6, 124})
    EXPECT_EQ(exit_code_of_failure(1, ExitStatus{ExitStatus::Kind::exited, code}), code);
  EXPECT_EQ(exit_code_of_failure(1, ExitStatus{ExitStatus::Kind::exited, 7}), 1);
  EXPECT_EQ(exit_code_of_failure(1, ExitStatus{ExitStatus::Kind::signalled, 6}), 1);
  EXPECT_EQ(exit_code_of_failure(1, std::nullopt), 1);
}

TEST(FailureReport, a_verdict_that_says_more_than_failed_wins) {
  EXPECT_EQ(exit_code_of_failure(124, ExitStatus{ExitStatus::Kind::exited, 3}), 124);
}

TEST(FailureReport, a_rank_with_an_error_line_and_a_code_of_ours_has_explained_itself) {
  const ExitStatus missing{ExitStatus::Kind::exited, 4};
  EXPECT_TRUE(has_explained_itself(missing, {"error: no such backend"}));
  EXPECT_FALSE(has_explained_itself(missing, {"some line"}));
  EXPECT_FALSE(has_explained_itself({ExitStatus::Kind::exited, 1}, {"error: no such backend"}));
  EXPECT_FALSE(has_explained_itself({ExitStatus::Kind::signalled, 4}, {"error: no such backend"}));
}

TEST(ExitStatus, is_described_in_words_that_follow_the_rank) {
  EXPECT_EQ(describe({ExitStatus::Kind::exited, 3}), "exited with code 3");
  EXPECT_EQ(describe({ExitStatus::Kind::signalled, 9}), "was killed by signal 9 (SIGKILL)");
}

}  // namespace
}  // namespace lockstep::launch
