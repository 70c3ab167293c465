// What a backend on devices does when a rank is missing, stopped, dead, or told to end: it ends, in time, and
// says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tests/comm/cuda/device_support.h"

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

TEST(DeviceFailures, NameTheRankThatNeverArrives) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        if (self.group.rank == 1) return;
        open_device(self, std::chrono::seconds(2));
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_THAT(results[0].message, HasSubstr("rank 1 did not come"));
}

TEST(DeviceFailures, EndAnOperationThatAPeerDoesNotStart) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_device(self, kTimeout);
        if (self.group.rank == 1) std::this_thread::sleep_for(kTimeout + std::chrono::seconds(3));
        if (self.group.rank == 0) reduce_one_element(*communicator);
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[0].signal, 0) << "rank 0 hung";
  EXPECT_THAT(results[0].message, HasSubstr("all_reduce"));
}

TEST(DeviceFailures, EndWhenAPeerIsKilled) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_device(self, kTimeout);
        if (self.group.rank == 1) ::kill(::getpid(), SIGKILL);
        reduce_one_element(*communicator);
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[0].signal, 0) << "rank 0 hung";
  EXPECT_THAT(results[0].message, HasSubstr("all_reduce"));
}

// Rank 1 stops itself before the operation, and goes on when rank 0 has given up.
TEST(DeviceFailures, EndWhenAPeerIsStopped) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_device(self, kTimeout);
        if (self.group.rank == 1) {
          self.store.set("pid", std::to_string(::getpid()));
          ::kill(::getpid(), SIGSTOP);
          return;
        }
        const pid_t peer = std::stoi(self.store.get("pid", base::Deadline(kTimeout)));
        try {
          reduce_one_element(*communicator);
        } catch (const std::exception&) {
          ::kill(peer, SIGCONT);
          throw;
        }
        ::kill(peer, SIGCONT);
      },
      kLimit);
  EXPECT_EQ(results[0].exit_code, 1);
  EXPECT_EQ(results[0].signal, 0) << "rank 0 hung";
  EXPECT_THAT(results[0].message, HasSubstr("all_reduce"));
}

TEST(DeviceFailures, EndSoonAfterAnAbortFromAnotherThread) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_device(self, kLimit);
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
