// What nccl does when a rank is missing, dies, or is told to stop: it ends, in time, and says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tests/comm/nccl/nccl_support.h"

namespace lockstep::testing {
namespace {

using comm::Purpose;
using comm::ReduceOp;
using ::testing::HasSubstr;

constexpr auto kTimeout = std::chrono::seconds(5);
constexpr auto kLimit = std::chrono::seconds(60);

void reduce_one_element(comm::Communicator& communicator) {
  float value = 1;
  communicator.run(comm::all_reduce(comm::host_buffer(&value, 1, comm::ElementType::f32), ReduceOp::sum,
                                    Purpose::gradient));
}

TEST(NcclFailures, NameTheRankThatNeverArrives) {
  LOCKSTEP_NEED_NCCL();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        if (self.group.rank == 1) return;
        open_nccl(self, std::chrono::seconds(2));
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_THAT(results[0].message, HasSubstr("rank 1 did not come"));
}

TEST(NcclFailures, EndAnOperationThatAPeerDoesNotStart) {
  LOCKSTEP_NEED_NCCL();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_nccl(self, kTimeout);
        if (self.group.rank == 1) std::this_thread::sleep_for(3 * kTimeout);
        if (self.group.rank == 0) reduce_one_element(*communicator);
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[0].signal, 0) << "rank 0 hung";
  EXPECT_THAT(results[0].message, HasSubstr("all_reduce"));
}

TEST(NcclFailures, EndWhenAPeerIsKilled) {
  LOCKSTEP_NEED_NCCL();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_nccl(self, kTimeout);
        if (self.group.rank == 1) ::kill(::getpid(), SIGKILL);
        reduce_one_element(*communicator);
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[0].signal, 0) << "rank 0 hung";
  EXPECT_THAT(results[0].message, HasSubstr("all_reduce"));
}

TEST(NcclFailures, EndSoonAfterAnAbortFromAnotherThread) {
  LOCKSTEP_NEED_NCCL();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_nccl(self, kLimit);
        if (self.group.rank == 1) {
          std::this_thread::sleep_for(std::chrono::seconds(8));
          communicator->abort("the test is over");
          return;
        }
        std::jthread stopper([&] {
          std::this_thread::sleep_for(std::chrono::seconds(1));
          communicator->abort("the test said so");
        });
        const base::TimePoint start = base::now();
        try {
          reduce_one_element(*communicator);
        } catch (const std::exception& error) {
          check(base::now() - start < std::chrono::seconds(7), "an abort took too long");
          throw;
        }
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[0].signal, 0) << "rank 0 hung";
  EXPECT_THAT(results[0].message, HasSubstr("the test said so"));
}

}  // namespace
}  // namespace lockstep::testing
