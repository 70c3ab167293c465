// Every collective over the tested backend, between real processes, several of them on one GPU where there is
// only one.
#include <gtest/gtest.h>

#include "tests/comm/cuda/device_support.h"
#include "tests/support/collective_cases.h"

namespace lockstep::testing {
namespace {

using comm::Purpose;
using comm::ReduceOp;

constexpr std::size_t kLargest = (std::size_t{1} << 20) + 64;

class DeviceCollectives : public ::testing::TestWithParam<int> {};

TEST_P(DeviceCollectives, GiveExactResultsForEveryTypeSizeAndPlace) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<CollectiveCase> cases = collective_cases(full_matrix());
  expect_ranks_succeed(
      GetParam(),
      [&cases](Rank& self) {
        const auto communicator = open_device(self);
        CaseMemory memory(*communicator, kLargest);
        for (const CollectiveCase& test : cases) run_case(*communicator, memory, test);
      },
      std::chrono::minutes(10));
}

TEST_P(DeviceCollectives, ReduceSixtyFourMebibytesExactly) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam(), [](Rank& self) {
    const auto communicator = open_device(self);
    CaseMemory memory(*communicator, std::size_t{64} << 20);
    for (const bool owned : {false, true})
      run_case(*communicator, memory,
               {comm::Collective::all_reduce, comm::ElementType::f32, ReduceOp::sum, std::size_t{16} << 20,
                owned, true, false, false});
  });
}

// Sums of one buffer, each started before the one before it has ended: only order gives the right result.
TEST_P(DeviceCollectives, RunInOrderWithSeveralInFlight) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam(), [](Rank& self) {
    const auto communicator = open_device(self);
    constexpr int kInFlight = 8;
    constexpr std::size_t kCount = 100003;
    comm::Allocation memory = communicator->allocate(kCount * sizeof(double));
    const comm::Buffer buffer = memory.buffer(comm::ElementType::f64);
    std::vector<double> values(kCount, 1.0);
    const comm::Buffer host = comm::host_buffer(values.data(), kCount, comm::ElementType::f64);
    communicator->copy(buffer, host);
    std::vector<comm::Work> works;
    int completed = 0;
    for (int i = 0; i < kInFlight; ++i)
      works.push_back(communicator->start(comm::all_reduce(buffer, ReduceOp::sum, Purpose::gradient),
                                          [&completed](const measure::Movement& movement) {
                                            check(movement.busy.count() > 0, "an operation took no time");
                                            ++completed;
                                          }));
    for (const comm::Work& work : works) work.wait();
    check(completed == kInFlight, "a completion was not reported before its work was done");
    communicator->copy(host, buffer);
    double expected = 1;
    for (int i = 0; i < kInFlight; ++i) expected *= self.group.world;
    for (const double value : values) check(value == expected, "a sum is wrong");
  });
}

TEST_P(DeviceCollectives, WorkInGroupsMadeBySplittingAndDuplicating) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam(), [](Rank& self) {
    const auto communicator = open_device(self);
    const auto half = communicator->split(self.group.rank % 2, -self.group.rank);
    const auto twin = communicator->duplicate();
    check(communicator->split(-1, 0) == nullptr, "a negative colour got a group");
    const int expected_world = (self.group.world + 1 - self.group.rank % 2) / 2;
    check(half->group().world == expected_world, "a half has a wrong size");
    check(half->group().rank == expected_world - 1 - self.group.rank / 2, "keys did not order the ranks");
    for (comm::Communicator* each : {half.get(), twin.get()}) {
      std::int64_t one = 1;
      each->run(comm::all_reduce(comm::host_buffer(&one, 1, comm::ElementType::i64), ReduceOp::sum,
                                 Purpose::control));
      check(one == each->group().world, "a sum over a group made from another is wrong");
    }
  });
}

TEST_P(DeviceCollectives, AreOrderedAfterWorkOfAnotherQueueAndHeldByADelay) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam(), [](Rank& self) {
    const auto first = open_device(self);
    const auto second = first->duplicate();
    constexpr auto kDelay = std::chrono::milliseconds(100);
    comm::Allocation memory = first->allocate(4096);
    const base::TimePoint start = base::now();
    first->queue().delay(kDelay);
    second->queue().wait_for(first->queue().mark());
    const comm::Work work = second->start(
        comm::all_reduce(memory.buffer(comm::ElementType::f32), ReduceOp::max, Purpose::gradient));
    work.wait();
    check(base::now() - start >= kDelay, "an operation did not wait for the queue it was put after");
    first->queue().drain();
    check(work.done(), "work that was waited for is not done");
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, DeviceCollectives, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace lockstep::testing
