// What nccl alone says about its collectives; the collectives themselves are tested as every device
// backend's.
#include <gtest/gtest.h>

#include "tests/comm/cuda/device_support.h"

namespace lockstep::testing {

const char* const kTestedBackend = "nccl";

namespace {

class NcclCollectives : public ::testing::TestWithParam<int> {};

TEST_P(NcclCollectives, SayWhatCarriesTheBytes) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam(), [](Rank& self) {
    const auto communicator = open_device(self);
    const std::string link(communicator->link());
    check(link.starts_with("nccl"), "the link is called " + link);
    if (self.group.rank == 0) std::printf("world %d: link %s\n", self.group.world, link.c_str());
    const measure::Movement movement = communicator->run(comm::barrier());
    check(movement.estimated == (self.group.world > 1), "a formula's figures are not marked as such");
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, NcclCollectives, ::testing::Values(1, 2, 4));

}  // namespace
}  // namespace lockstep::testing
