#include "lockstep/comm/rendezvous/inquiry.h"

#include <gtest/gtest.h>

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;
using std::chrono::milliseconds;

const base::TimePoint kStart{};
const OperationStatus kPosition{1, true, "barrier over shm", milliseconds(5)};

Inquiry make(bool watched) {
  InquiryOptions options;
  options.world = 3;
  options.watched = watched;
  Inquiry inquiry(options);
  for (int rank = 0; rank < 3; ++rank) inquiry.arrived(rank);
  return inquiry;
}

FailureReport report_of(Kind kind) {
  return {kind, base::ExitCode::run_failed, "what", kPosition};
}

TEST(Inquiry, HasNoDeadlineBeforeAFailure) {
  EXPECT_FALSE(make(true).due_at().has_value());
}

TEST(Inquiry, DecidesARanksOwnErrorAtOnce) {
  Inquiry inquiry = make(true);
  inquiry.reported(1, report_of(Kind::failed), kStart);
  inquiry.asked(0);
  EXPECT_EQ(inquiry.due_at(), kStart);
}

TEST(Inquiry, WaitsForAnswersAfterATimeoutAndNoLongerThanTheDiagnosis) {
  Inquiry inquiry = make(false);
  inquiry.reported(0, report_of(Kind::timed_out), kStart);
  for (int rank = 0; rank < 3; ++rank) inquiry.asked(rank);
  EXPECT_EQ(inquiry.due_at(), kStart + milliseconds(300));
  inquiry.answered(1, kPosition);
  EXPECT_EQ(inquiry.due_at(), kStart + milliseconds(300));
  inquiry.answered(2, kPosition);
  EXPECT_EQ(inquiry.due_at(), kStart);
}

TEST(Inquiry, KnowsWhoWasAskedInVain) {
  Inquiry inquiry = make(false);
  inquiry.reported(0, report_of(Kind::timed_out), kStart);
  for (int rank = 0; rank < 3; ++rank) inquiry.asked(rank);
  inquiry.answered(1, kPosition);
  EXPECT_FALSE(inquiry.kept_silent(0));
  EXPECT_FALSE(inquiry.kept_silent(1));
  EXPECT_TRUE(inquiry.kept_silent(2));
}

TEST(Inquiry, CallsNobodySilentWhoseAnswerDidNotMatter) {
  Inquiry inquiry = make(false);
  inquiry.reported(1, report_of(Kind::failed), kStart);
  inquiry.asked(0);
  EXPECT_FALSE(inquiry.kept_silent(0));
}

TEST(Inquiry, GivesTheLostRankAMomentToTellItsOwnStory) {
  Inquiry inquiry = make(false);
  inquiry.reported(0, report_of(Kind::peer_lost), kStart);
  EXPECT_EQ(inquiry.due_at(), kStart + milliseconds(200));
  inquiry.lost(1, kStart + milliseconds(50));
  EXPECT_EQ(inquiry.due_at(), kStart);
}

TEST(Inquiry, WaitsForTheLauncherToSayHowALostRankEnded) {
  Inquiry inquiry = make(true);
  inquiry.lost(1, kStart);
  EXPECT_EQ(inquiry.due_at(), kStart + milliseconds(200));
  inquiry.ended(1, "exited with code 2", kStart + milliseconds(10));
  EXPECT_EQ(inquiry.due_at(), kStart);
}

TEST(Inquiry, DoesNotWaitForALauncherThatIsNotThere) {
  Inquiry inquiry = make(false);
  inquiry.lost(1, kStart);
  EXPECT_EQ(inquiry.due_at(), kStart);
}

TEST(Inquiry, EndsAtOnceWhenAsked) {
  Inquiry inquiry = make(true);
  inquiry.lost(1, kStart);
  inquiry.end_asked({"interrupted", base::ExitCode::run_failed}, kStart + milliseconds(10));
  EXPECT_EQ(inquiry.due_at(), kStart);
}

TEST(Inquiry, KeepsTheFirstReportOfARankAndItsPosition) {
  Inquiry inquiry = make(false);
  inquiry.reported(0, report_of(Kind::timed_out), kStart);
  inquiry.reported(0, report_of(Kind::collateral), kStart);
  inquiry.answered(0, OperationStatus{});
  EXPECT_EQ(inquiry.evidence().ranks[0].report->kind, Kind::timed_out);
  EXPECT_EQ(inquiry.evidence().ranks[0].position->sequence, 1U);
}

}  // namespace
}  // namespace lockstep::comm
