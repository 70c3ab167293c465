// Every collective over local, between threads.
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/local/local_backend.h"
#include "tests/support/collective_cases.h"
#include "tests/support/exact_cases.h"
#include "tests/support/late_hands.h"
#include "tests/support/ranks.h"
#include "tests/support/replicas.h"

namespace lockstep::testing {
namespace {

class LocalCollectives : public ::testing::TestWithParam<int> {};

TEST_P(LocalCollectives, GiveExactResultsForEveryTypeAndSize) {
  const std::vector<CollectiveCase> cases = collective_cases(full_matrix());
  expect_replicas_succeed(GetParam(), [&cases](comm::Communicator& communicator) {
    CaseMemory memory(communicator, (std::size_t{1} << 20) + 64);
    for (const CollectiveCase& test : cases) run_case(communicator, memory, test);
  });
}

TEST_P(LocalCollectives, GiveExactResultsOnADeviceThatActsLate) {
  const std::vector<CollectiveCase> cases = collective_cases(full_matrix());
  expect_replicas_succeed(
      GetParam(), [] { return std::make_unique<LateHands>(); },
      [&cases](comm::Communicator& communicator) {
        CaseMemory memory(communicator, (std::size_t{1} << 20) + 64);
        check(memory.place(true) == comm::Place::device, "memory is not the device's");
        for (const CollectiveCase& test : cases) run_case(communicator, memory, test);
      });
}

INSTANTIATE_TEST_SUITE_P(Replicas, LocalCollectives, ::testing::Values(1, 2, 3, 5, 8));

TEST(LocalCollectivesTest, GiveExactResultsForSixtyFourMebibytes) {
  for (const int replicas : {2, 4})
    expect_replicas_succeed(replicas, [](comm::Communicator& communicator) {
      for (const ExactCase& test : huge_cases(full_matrix())) run_exact_case(test, communicator);
    });
}

TEST(LocalBackendTest, SplitsAndDuplicatesAGroupOnADevice) {
  expect_replicas_succeed(
      3, [] { return std::make_unique<LateHands>(); },
      [](comm::Communicator& communicator) {
        const int rank = communicator.group().rank;
        const auto part = communicator.split(rank % 2, rank);
        const auto twin = communicator.duplicate();
        for (comm::Communicator* each : {part.get(), twin.get()}) {
          const comm::Allocation memory = each->allocate(sizeof(double));
          double one = 1;
          const comm::Buffer host = comm::host_buffer(&one, 1, comm::ElementType::f64);
          const comm::Buffer device = memory.buffer(comm::ElementType::f64);
          each->copy(device, host);
          each->run(comm::all_reduce(device, comm::ReduceOp::sum, comm::Purpose::control));
          each->copy(host, device);
          check(one == each->group().world, "a sum over a group made from another is wrong");
        }
      });
}

TEST(LocalBackendTest, RefusesADevicesMemoryWithoutSomethingThatReachesIt) {
  comm::OpenOptions options;
  const auto group = comm::open_local_group(1, options);
  float value = 0;
  comm::Buffer buffer = comm::host_buffer(&value, 1, comm::ElementType::f32);
  buffer.place = comm::Place::device;
  EXPECT_THROW(group.front()->run(comm::all_reduce(buffer, comm::ReduceOp::sum, comm::Purpose::control)),
               base::CommError);
}

TEST(LocalBackendTest, RefusesSeveralWorkersAndNamesTheAlternative) {
  FileStore store("unused");
  try {
    comm::LocalBackend().open({0, 2, 0, 2, "host"}, store, {});
    FAIL() << "must be refused";
  } catch (const base::ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("Use shm"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lockstep::testing
