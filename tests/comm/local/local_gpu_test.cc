// Every collective over local between replicas whose buffers lie on one GPU.
#include <gtest/gtest.h>

#include "lockstep/comm/cuda/device_hands.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "tests/support/collective_cases.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::testing {
namespace {

class LocalOnAGpu : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const device::cuda::DeviceCount found = device::cuda::count_devices(); found.count == 0)
      GTEST_SKIP() << "there is no GPU here: " << found.why_none;
  }
};

TEST_P(LocalOnAGpu, GivesExactResultsForEveryTypeAndSize) {
  const std::vector<CollectiveCase> cases = collective_cases(full_matrix());
  expect_replicas_succeed(
      GetParam(), [] { return std::make_unique<comm::DeviceHands>(0); },
      [&cases](comm::Communicator& communicator) {
        CaseMemory memory(communicator, (std::size_t{1} << 20) + 64);
        check(memory.place(true) == comm::Place::device, "memory is not the device's");
        for (const CollectiveCase& test : cases) run_case(communicator, memory, test);
      });
}

INSTANTIATE_TEST_SUITE_P(Replicas, LocalOnAGpu, ::testing::Values(1, 2, 4, 8));

}  // namespace
}  // namespace lockstep::testing
