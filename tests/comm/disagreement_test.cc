// Ranks of one run that are in different operations, over real backends: every rank ends in time, and one
// error names both operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "lockstep/base/environment.h"
#include "lockstep/comm/session.h"
#include "tests/comm/rendezvous/forked_ranks.h"
#include "tests/support/disagreements.h"

namespace lockstep::comm::testing {
namespace {

using lockstep::testing::Disagreement;
using lockstep::testing::disagreements;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class DisagreementTest : public ::testing::TestWithParam<std::tuple<std::string, Disagreement>> {
 protected:
  Identity identity(int rank) const {
    Identity identity;
    identity.group.rank = rank;
    identity.group.world = 2;
    identity.group.host = "here";
    identity.source = "test";
    identity.job = "a test's job";
    identity.key = key_;
    return identity;
  }

  const TemporaryDirectory store_;
  const std::string key_ = make_key();
};

TEST_P(DisagreementTest, EndsAllRanksAtTheTimeoutAtTheLatestAndNamesBothOperations) {
  const auto& [backend, disagreement] = GetParam();
  if (!Registry(base::plugin_directory()).find(backend).availability().available)
    GTEST_SKIP() << "backend " << backend << " is absent here";
  ForkedRanks ranks(2, [&, backend = backend, disagreement = disagreement](int rank) {
    const Registry registry(base::plugin_directory());
    SessionOptions options;
    options.timeout = std::chrono::seconds(1);
    options.meeting_directory = store_.path();
    options.listen_address = "127.0.0.1";
    return run_session(identity(rank), registry, options, [&](Session& session) {
      const auto communicator = session.open(backend, {});
      lockstep::testing::run_disagreement(*communicator, disagreement);
    });
  });
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(ranks.wait(rank, std::chrono::seconds(8)), AnyOf(1, 124)) << ranks.errors_of(rank);
  const std::string said = ranks.errors_of(0) + ranks.errors_of(1);
  EXPECT_THAT(said, AllOf(HasSubstr("error: "), HasSubstr("disagree"), HasSubstr(disagreement.first_words),
                          HasSubstr(disagreement.second_words)));
}

// mpi's ranks must be started by mpirun: tests/comm/mpi does the same there.
INSTANTIATE_TEST_SUITE_P(Backends, DisagreementTest,
                         ::testing::Combine(::testing::Values("shm", "gloo"),
                                            ::testing::ValuesIn(disagreements())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace lockstep::comm::testing
