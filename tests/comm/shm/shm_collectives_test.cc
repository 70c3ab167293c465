// Every collective over shm, between real processes.
#include <gtest/gtest.h>

#include <algorithm>

#include "lockstep/comm/shared/control_block.h"
#include "lockstep/comm/shm/shm_backend.h"
#include "tests/support/collective_cases.h"
#include "tests/support/exact_cases.h"
#include "tests/support/ranks.h"

namespace lockstep::testing {
namespace {

constexpr std::size_t kLargest = (std::size_t{1} << 20) + 64;

std::unique_ptr<comm::Communicator> open_shm(Rank& self) {
  comm::OpenOptions options;
  options.timeout = std::chrono::seconds(60);
  return comm::ShmBackend().open(self.group, self.store, options);
}

class ShmCollectives : public ::testing::TestWithParam<int> {};

TEST_P(ShmCollectives, GiveExactResultsForEveryTypeSizeAndPlace) {
  const std::vector<CollectiveCase> cases = collective_cases(full_matrix());
  expect_ranks_succeed(
      GetParam(),
      [&cases](Rank& self) {
        const auto communicator = open_shm(self);
        CaseMemory memory(*communicator, kLargest);
        for (const CollectiveCase& test : cases) run_case(*communicator, memory, test);
      },
      std::chrono::minutes(10));
}

TEST_P(ShmCollectives, GiveExactResultsForBuffersOfTheirOwnAndEmptyOnes) {
  expect_ranks_succeed(GetParam(), [](Rank& self) {
    const auto communicator = open_shm(self);
    for (const ExactCase& test : exact_cases(self.group.world, full_matrix()))
      run_exact_case(test, *communicator);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ShmCollectives, ::testing::Values(1, 2, 3, 5, 8));

TEST(ShmCollectivesTest, GiveExactResultsForSixtyFourMebibytes) {
  for (const int world : {2, 4})
    expect_ranks_succeed(world, [](Rank& self) {
      const auto communicator = open_shm(self);
      for (const ExactCase& test : huge_cases(full_matrix())) run_exact_case(test, *communicator);
    });
}

TEST(ShmCollectivesTest, ReduceSixtyFourMebibytesInPlaceExactly) {
  for (const int world : {2, 4})
    expect_ranks_succeed(world, [](Rank& self) {
      const auto communicator = open_shm(self);
      CaseMemory memory(*communicator, (std::size_t{64} << 20) / static_cast<std::size_t>(self.group.world));
      for (const bool owned : {false, true})
        run_case(*communicator, memory,
                 {comm::Collective::all_reduce, comm::ElementType::f32, comm::ReduceOp::sum,
                  std::size_t{16} << 20, owned, true, false, false});
    });
}

TEST(ShmMailboxTest, LeaveRoomForFourThousandWorkersInTheAddressSpace) {
  EXPECT_LT(comm::shared::ControlBlock::bytes(4096), std::size_t{64} << 30);
  EXPECT_EQ(comm::shared::mail_bytes(8), comm::shared::kMostMailBytes);
}

TEST(ShmMailboxTest, CarryMessagesInManyPiecesWhereALargeWorldMakesThemSmall) {
  constexpr int kWorld = 100;
  static_assert(comm::shared::mail_bytes(kWorld) < 16 * 1024);
  expect_ranks_succeed(kWorld, [](Rank& self) {
    const auto communicator = open_shm(self);
    if (self.group.rank > 1) return;  // and these have left: they are not needed any more
    std::vector<int> message(100003, self.group.rank == 0 ? 7 : 0);
    const comm::Buffer buffer = comm::host_buffer(message.data(), message.size(), comm::ElementType::i32);
    for (int round = 0; round < 3; ++round)
      communicator->run(self.group.rank == 0 ? comm::send(buffer, 1, comm::Purpose::control)
                                             : comm::receive(buffer, 0, comm::Purpose::control));
    check(std::count(message.begin(), message.end(), 7) == 100003, "a piece went astray");
  });
}

}  // namespace
}  // namespace lockstep::testing
