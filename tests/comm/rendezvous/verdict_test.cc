#include "lockstep/comm/rendezvous/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;
using base::ExitCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A soft limit of this process, while it lives.
class LimitForTest {
 public:
  LimitForTest(decltype(RLIMIT_FSIZE) what, rlim_t value) : what_(what) {
    ::getrlimit(what, &before_);
    rlimit limit = before_;
    limit.rlim_cur = value;
    ::setrlimit(what, &limit);
  }
  ~LimitForTest() { ::setrlimit(what_, &before_); }
  LimitForTest(const LimitForTest&) = delete;
  LimitForTest& operator=(const LimitForTest&) = delete;

 private:
  decltype(RLIMIT_FSIZE) what_;
  rlimit before_{};
};

OperationStatus in(std::uint64_t sequence, const std::string& description) {
  return {sequence, true, description, std::chrono::seconds(10)};
}
OperationStatus after(std::uint64_t sequence, const std::string& description) {
  return {sequence, false, description, std::chrono::seconds(10)};
}

const std::string kSum = "all_reduce (sum) of 1024 f32 over gloo";

// Ranks that have all arrived, been asked, and are in the same operation.
Evidence world_of(int count) {
  Evidence evidence;
  evidence.ranks.resize(static_cast<std::size_t>(count));
  for (RankEvidence& rank : evidence.ranks) {
    rank.arrived = true;
    rank.asked = true;
    rank.position = in(42, kSum);
  }
  return evidence;
}

void report(RankEvidence& rank, int order, Kind kind, const std::string& message,
            ExitCode code = ExitCode::run_failed) {
  rank.report = FailureReport{kind, code, message, rank.position.value_or(OperationStatus{})};
  rank.report_order = order;
}

RankEvidence gone(bool arrived, std::optional<std::string> how) {
  RankEvidence rank;
  rank.arrived = arrived;
  rank.exit = std::move(how);
  rank.gone_order = 0;
  return rank;
}

TEST(Verdict, OfAKilledRankSaysBySignalAndWhereTheOthersWere) {
  Evidence evidence = world_of(2);
  evidence.ranks[1] = gone(true, "was killed by signal 9 (SIGKILL)");
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, 1);
  EXPECT_EQ(verdict.exit_code, ExitCode::run_failed);
  EXPECT_THAT(verdict.message,
              HasSubstr("rank 1 was killed by signal 9 (SIGKILL) while rank 0 was in all_reduce "
                        "#42 (sum) of 1024 f32 over gloo"));
  EXPECT_THAT(verdict.message, HasSubstr("memory"));
}

TEST(Verdict, OfALostConnectionNamesTheRank) {
  Evidence evidence = world_of(4);
  evidence.ranks[2] = gone(true, std::nullopt);
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, 2);
  EXPECT_THAT(verdict.message, HasSubstr("rank 2 is gone"));
  EXPECT_THAT(verdict.message, HasSubstr("ranks 0, 1 and 3 were in all_reduce #42"));
}

TEST(Verdict, OfARankThatEndedBeforeItJoinedSaysSo) {
  Evidence evidence = world_of(2);
  evidence.ranks[1] = gone(false, "exited with code 3");
  EXPECT_THAT(decide(evidence).message, HasSubstr("rank 1 exited with code 3 before it joined the run"));
}

// The loader and Open MPI do not say what they met.
TEST(Verdict, OfARankThatEndedWithoutAWordNamesTheLimitsThatAreSet) {
  Evidence evidence = world_of(2);
  for (const char* how : {"exited with code 127", "was killed (mpirun does not tell how)"}) {
    evidence.ranks[1] = gone(false, how);
    const LimitForTest files(RLIMIT_FSIZE, 1 << 20), memory(RLIMIT_AS, rlim_t{1} << 50);
    EXPECT_THAT(decide(evidence).message,
                AllOf(HasSubstr("a file may grow to 1.00 MiB, see ulimit -f"), HasSubstr("see ulimit -v")));
  }
  const LimitForTest enough(RLIMIT_NOFILE, 1024);
  EXPECT_THAT(decide(evidence).message, Not(HasSubstr("ulimit")));
  const LimitForTest few(RLIMIT_NOFILE, 32);
  EXPECT_THAT(decide(evidence).message, HasSubstr("a process may open 32, see ulimit -n"));
  EXPECT_THAT(missing_ranks({0, 1}, 2, std::chrono::seconds(6)).message, HasSubstr("see ulimit -n"));
}

TEST(Verdict, TakesARanksOwnErrorAndItsExitCode) {
  Evidence evidence = world_of(2);
  report(evidence.ranks[1], 0, Kind::failed, "the sums are wrong", ExitCode::verification_failed);
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, 1);
  EXPECT_EQ(verdict.exit_code, ExitCode::verification_failed);
  EXPECT_EQ(verdict.message, "rank 1: the sums are wrong");
}

TEST(Verdict, PrefersTheCulpritToVictimsThatSpokeFirst) {
  Evidence evidence = world_of(4);
  report(evidence.ranks[0], 0, Kind::peer_lost, "rank 0 lost rank 3");
  report(evidence.ranks[1], 1, Kind::timed_out, "rank 1 waited", ExitCode::timed_out);
  report(evidence.ranks[2], 2, Kind::collateral, "rank 2 ends");
  report(evidence.ranks[3], 3, Kind::failed, "rank 3: no memory");
  EXPECT_EQ(decide(evidence).rank, 3);
  evidence.ranks[3].report.reset();
  evidence.ranks[3].gone_order = 3;
  EXPECT_EQ(decide(evidence).rank, 3);
}

TEST(Verdict, DoesNotBlameAVictimForEndingAfterItsReport) {
  Evidence evidence = world_of(2);
  report(evidence.ranks[0], 0, Kind::peer_lost, "rank 0 lost rank 1");
  evidence.ranks[0].gone_order = 1;
  evidence.ranks[0].exit = "exited with code 1";
  evidence.ranks[1].gone_order = 2;
  EXPECT_EQ(decide(evidence).rank, 1);
}

TEST(Verdict, OfTwoCulpritsTakesTheFirst) {
  Evidence evidence = world_of(3);
  report(evidence.ranks[0], 1, Kind::failed, "second");
  evidence.ranks[2].gone_order = 0;
  EXPECT_EQ(decide(evidence).rank, 2);
}

TEST(Verdict, OfATimeoutBlamesTheRankThatDoesNotAnswer) {
  Evidence evidence = world_of(3);
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0: timeout", ExitCode::timed_out);
  evidence.ranks[2].position.reset();
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, 2);
  EXPECT_EQ(verdict.exit_code, ExitCode::timed_out);
  EXPECT_THAT(verdict.message, HasSubstr("rank 2 does not answer (stopped, or the host is down)"));
  EXPECT_THAT(verdict.message,
              HasSubstr("rank 0 waited 10.0 s in all_reduce #42 (sum) of 1024 f32 over gloo"));
}

TEST(Verdict, OfATimeoutBlamesTheRankThatHasNotArrived) {
  Evidence evidence = world_of(3);
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0: timeout", ExitCode::timed_out);
  evidence.ranks[2].position = after(41, kSum);
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, 2);
  EXPECT_EQ(verdict.kind, Kind::timed_out);
  EXPECT_THAT(
      verdict.message,
      HasSubstr("rank 2 has not arrived: its last operation was all_reduce #41 (sum) of 1024 f32 over "
                "gloo, ended 10.0 s ago"));
}

TEST(Verdict, OfATimeoutNamesARankThatHasFinishedOrNotBegun) {
  Evidence evidence = world_of(3);
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0: timeout", ExitCode::timed_out);
  evidence.ranks[1].finished = true;
  evidence.ranks[2].position = OperationStatus{};
  const std::string message = decide(evidence).message;
  EXPECT_THAT(message, HasSubstr("rank 1 has not arrived: it has finished already"));
  EXPECT_THAT(message, HasSubstr("rank 2 has not arrived: it has not begun any operation"));
}

TEST(Verdict, OfATimeoutInDifferentOperationsIsADisagreementThatListsThem) {
  Evidence evidence = world_of(2);
  evidence.ranks[0].position = in(3, "all_reduce (sum) of 1000 f32 over gloo");
  evidence.ranks[1].position = in(3, "broadcast of 1000 f32 with root 0 over gloo");
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0: timeout", ExitCode::timed_out);
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.kind, Kind::disagreement);
  EXPECT_EQ(verdict.exit_code, ExitCode::timed_out);
  EXPECT_THAT(
      verdict.message,
      HasSubstr("ranks disagree: rank 0 was in all_reduce #3 (sum) of 1000 f32 over gloo, rank 1 was in "
                "broadcast #3 of 1000 f32 with root 0 over gloo"));
}

TEST(Verdict, OfADisagreementBlamesTheOneAgainstTheMany) {
  Evidence evidence = world_of(5);
  evidence.ranks[3].position = in(42, "all_reduce (sum) of 1025 f32 over gloo");
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0: timeout", ExitCode::timed_out);
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, 3);
  EXPECT_THAT(verdict.message, HasSubstr("ranks 0-2 and 4 were in"));
}

TEST(Verdict, DoesNotTakeARootsLargerBufferForADisagreement) {
  Evidence evidence = world_of(2);
  evidence.ranks[0].position = in(3, "gather of 2000 f32 with root 0 over gloo");
  evidence.ranks[1].position = in(3, "gather of 1000 f32 with root 0 over gloo");
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0: timeout", ExitCode::timed_out);
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.kind, Kind::timed_out);
  EXPECT_THAT(verdict.message, HasSubstr("although every rank is in it"));
}

TEST(Verdict, OfADisagreementThatABackendFoundFailsWithExitCodeOne) {
  Evidence evidence = world_of(2);
  evidence.ranks[1].position = in(42, "all_reduce (sum) of 7 f32 over shm");
  report(evidence.ranks[1], 0, Kind::disagreement, "rank 1: counts differ");
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.kind, Kind::disagreement);
  EXPECT_EQ(verdict.exit_code, ExitCode::run_failed);
  EXPECT_THAT(verdict.message, HasSubstr("rank 1: counts differ"));
  EXPECT_THAT(verdict.message, HasSubstr("rank 1 was in all_reduce #42 (sum) of 7 f32 over shm"));
}

TEST(Verdict, OfATimeoutOutsideAnyOperationKeepsItsOwnWords) {
  Evidence evidence = world_of(2);
  evidence.ranks[0].position = OperationStatus{};
  report(evidence.ranks[0], 0, Kind::timed_out, "rank 0 waited in vain for the key 'x'", ExitCode::timed_out);
  EXPECT_EQ(decide(evidence).message, "rank 0 waited in vain for the key 'x'");
}

TEST(Verdict, OfALostPeerBlamesTheSilentRankOrTheNetwork) {
  Evidence evidence = world_of(3);
  report(evidence.ranks[0], 0, Kind::peer_lost, "rank 0 lost a peer");
  EXPECT_THAT(decide(evidence).message, HasSubstr("network"));
  EXPECT_EQ(decide(evidence).rank, 0);
  evidence.ranks[1].position.reset();
  EXPECT_EQ(decide(evidence).rank, 1);
  EXPECT_THAT(decide(evidence).message, HasSubstr("rank 1 did not answer"));
}

TEST(Verdict, OfARequestedEndIsItsReason) {
  Evidence evidence = world_of(2);
  report(evidence.ranks[0], 0, Kind::failed, "something");
  evidence.end = EndRequest{"interrupted", static_cast<ExitCode>(130)};
  const Verdict verdict = decide(evidence);
  EXPECT_EQ(verdict.rank, -1);
  EXPECT_EQ(verdict.message, "interrupted");
  EXPECT_EQ(static_cast<int>(verdict.exit_code), 130);
}

TEST(Verdict, OfMissingRanksNamesThem) {
  const Verdict verdict = missing_ranks({1, 4, 5, 6}, 8, std::chrono::seconds(60));
  EXPECT_EQ(verdict.rank, 1);
  EXPECT_EQ(verdict.exit_code, ExitCode::timed_out);
  EXPECT_THAT(verdict.message, HasSubstr("ranks 1 and 4-6 of 8 did not arrive within 60"));
}

TEST(Verdict, NamesItsRankInItsMessageForWhoHearsTheWordsAlone) {
  EXPECT_EQ(culprit_in(missing_ranks({1, 4}, 8, std::chrono::seconds(60)).message), 1);
  EXPECT_EQ(culprit_in(missing_ranks({3, 4, 5}, 8, std::chrono::seconds(60)).message), 3);
  Evidence evidence = world_of(3);
  report(evidence.ranks[0], 0, Kind::timed_out, "too late", ExitCode::timed_out);
  evidence.ranks[2].position = after(41, kSum);
  EXPECT_EQ(culprit_in(decide(evidence).message), 2);
  evidence.ranks[1] = gone(true, "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(culprit_in(decide(evidence).message), 1);
  EXPECT_EQ(culprit_in("ranks disagree: all of them"), std::nullopt);
  EXPECT_EQ(culprit_in("the disk is full"), std::nullopt);
}

TEST(RankList, ReadsLikeASentence) {
  EXPECT_EQ(rank_list({3}), "rank 3");
  EXPECT_EQ(rank_list({0, 1}), "ranks 0 and 1");
  EXPECT_EQ(rank_list({0, 2, 4, 5, 6, 7}), "ranks 0, 2 and 4-7");
  EXPECT_EQ(rank_list({1, 2, 3}), "ranks 1-3");
}

}  // namespace
}  // namespace lockstep::comm
