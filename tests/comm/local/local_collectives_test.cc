// Every collective over local, between threads.
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/local/local_backend.h"
#include "tests/support/collective_cases.h"
#include "tests/support/exact_cases.h"
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

INSTANTIATE_TEST_SUITE_P(Replicas, LocalCollectives, ::testing::Values(1, 2, 3, 5, 8));

TEST(LocalCollectivesTest, GiveExactResultsForSixtyFourMebibytes) {
  for (const int replicas : {2, 4})
    expect_replicas_succeed(replicas, [](comm::Communicator& communicator) {
      for (const ExactCase& test : huge_cases(full_matrix())) run_exact_case(test, communicator);
    });
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
