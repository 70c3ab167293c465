#include "lockstep/comm/rendezvous/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/identity_source.h"
#include "lockstep/comm/rendezvous/meeting_place.h"
#include "lockstep/comm/rendezvous/own_host.h"
#include "tests/comm/rendezvous/forked_ranks.h"

namespace lockstep::comm {
namespace {

using ::testing::HasSubstr;

class IdentityTest : public ::testing::Test {
 protected:
  IdentityTest() {
    for (const char* name : {"RANK",
                             "WORLD_SIZE",
                             "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE",
                             "MASTER_ADDR",
                             "MASTER_PORT",
                             "LOCKSTEP_KEY",
                             "LOCKSTEP_SERVER",
                             "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "OMPI_MCA_ess_base_jobid",
                             "OMPI_MCA_orte_hnp_uri",
                             "PMI_RANK",
                             "PMI_SIZE",
                             "PMI_JOBID",
                             "PMIX_RANK",
                             "PMIX_SIZE",
                             "PMIX_NAMESPACE",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_STEP_NUM_TASKS",
                             "SLURM_STEP_NUM_NODES",
                             "SLURM_STEP_TASKS_PER_NODE",
                             "SLURM_NODEID",
                             "SLURM_RESTART_COUNT",
                             "SLURMD_NODENAME",
                             "SLURM_LOCALID",
                             "SLURM_JOB_ID",
                             "SLURM_STEP_ID",
                             "SLURM_STEP_NODELIST",
                             "SLURM_JOB_NODELIST",
                             "ENVIRONMENT",
                             "TORCHELASTIC_USE_AGENT_STORE"})
      ::unsetenv(name);
  }

  static void set(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static void set_torchrun() {
    set({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29511"}});
  }
  static void set_mpirun() {
    set({{"OMPI_COMM_WORLD_RANK", "2"},
         {"OMPI_COMM_WORLD_SIZE", "3"},
         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
         {"PMIX_RANK", "2"},
         {"PMIX_NAMESPACE", "1231028225"}});
  }
  static std::string complaint(const IdentityFlags& flags = {}) {
    try {
      find_identity(flags);
    } catch (const base::ConfigError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
};

TEST_F(IdentityTest, IsAbsentWhereNothingNamesARank) {
  EXPECT_FALSE(find_identity({}).has_value());
}

TEST_F(IdentityTest, ComesFromTorchrunsVariables) {
  set_torchrun();
  const Identity identity = find_identity({}).value();
  EXPECT_EQ(identity.group.rank, 1);
  EXPECT_EQ(identity.group.world, 4);
  EXPECT_EQ(identity.source, "RANK");
  EXPECT_EQ(identity.master_addr, "127.0.0.1");
  EXPECT_EQ(identity.master_port, 29511);
  EXPECT_FALSE(identity.launcher_serves);
  EXPECT_EQ(describe(identity), "rank 1 of 4, as RANK says; rank 0 serves at 127.0.0.1:29511");
}

TEST_F(IdentityTest, OfALocalRankComesFromTorchrunsVariablesToo) {
  set_torchrun();
  set({{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}});
  const Identity identity = find_identity({}).value();
  EXPECT_TRUE(identity.local_known);
  EXPECT_EQ(identity.group.local_rank, 1);
  EXPECT_EQ(identity.group.local_world, 2);
}

TEST_F(IdentityTest, OfRanksThatMeetOnLoopbackIsOfOneHost) {
  set_torchrun();
  for (const char* address : {"127.0.0.1", "127.3.2.1", "::1", "localhost"}) {
    set({{"MASTER_ADDR", address}});
    const Identity identity = find_identity({}).value();
    EXPECT_TRUE(identity.local_known) << address;
    EXPECT_EQ(identity.group.local_rank, 1) << address;
    EXPECT_EQ(identity.group.local_world, 4) << address;
  }
  for (const char* address : {"10.0.0.7", "127.example.org", "node03", "::2"}) {
    set({{"MASTER_ADDR", address}});
    EXPECT_FALSE(find_identity({})->local_known) << address;
  }
}

TEST_F(IdentityTest, TakesTheKeyFromTheEnvironmentOrLeavesItToTheMeetingFile) {
  set_torchrun();
  EXPECT_EQ(find_identity({})->key, "");
  EXPECT_EQ(find_identity({})->job, "127.0.0.1-29511");
  set({{"LOCKSTEP_KEY", "short"}});
  EXPECT_THAT(complaint(), HasSubstr("LOCKSTEP_KEY has 5 characters"));
  const std::string key(40, 'k');
  set({{"LOCKSTEP_KEY", key}});
  EXPECT_EQ(find_identity({})->key, key);
}

TEST_F(IdentityTest, TakesTheLaunchersKeyAndServer) {
  set_mpirun();
  set({{"LOCKSTEP_SERVER", "launcher"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "4000"}});
  EXPECT_THAT(complaint(), HasSubstr("MASTER_PORT and LOCKSTEP_KEY are not all set"));
  set({{"LOCKSTEP_KEY", std::string(64, 'a')}});
  const Identity identity = find_identity({}).value();
  EXPECT_TRUE(identity.launcher_serves);
  EXPECT_EQ(identity.source, "OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(identity.group.rank, 2);
  EXPECT_EQ(identity.key, std::string(64, 'a'));
  EXPECT_EQ(identity.master_port, 4000);
}

TEST_F(IdentityTest, NamesTheVariableThatIsMissing) {
  set({{"RANK", "1"}});
  EXPECT_THAT(complaint(), HasSubstr("RANK is set, but WORLD_SIZE is not"));
  ::unsetenv("RANK");
  set({{"WORLD_SIZE", "2"}});
  EXPECT_THAT(complaint(), HasSubstr("WORLD_SIZE is set, but RANK is not"));
  set({{"RANK", "1"}, {"MASTER_ADDR", "127.0.0.1"}});
  EXPECT_THAT(complaint(), HasSubstr("MASTER_ADDR is set, MASTER_PORT is not"));
}

TEST_F(IdentityTest, NamesTheVariableThatIsNoNumber) {
  set_torchrun();
  set({{"RANK", "one"}});
  EXPECT_THAT(complaint(), HasSubstr("RANK is 'one'"));
  set({{"RANK", "-1"}});
  EXPECT_THAT(complaint(), HasSubstr("RANK is -1"));
  set({{"RANK", "1"}, {"MASTER_PORT", "70000"}});
  EXPECT_THAT(complaint(), HasSubstr("MASTER_PORT is 70000"));
}

TEST_F(IdentityTest, RefusesARankOutsideTheWorld) {
  set_torchrun();
  set({{"RANK", "4"}});
  EXPECT_THAT(complaint(), HasSubstr("no rank 4 in a world of 4"));
}

TEST_F(IdentityTest, PrefersFlagsAndRefusesFlagsAgainstRank) {
  const IdentityFlags flags{3, 5, "127.0.0.1", 4001};
  set_mpirun();
  const Identity identity = find_identity(flags).value();
  EXPECT_EQ(identity.source, "flags");
  EXPECT_EQ(identity.group.rank, 3);
  EXPECT_EQ(identity.master_port, 4001);
  ASSERT_EQ(identity.disagreements.size(), 2U);
  EXPECT_THAT(identity.disagreements[0], HasSubstr("OMPI_COMM_WORLD_RANK says rank 2 of 3"));
  set_torchrun();
  EXPECT_THAT(complaint(flags), HasSubstr("the flags say rank 3, but RANK is 1"));
}

TEST_F(IdentityTest, PrefersRankToMpirunAndLogsTheDisagreement) {
  set_mpirun();
  set_torchrun();
  const Identity identity = find_identity({}).value();
  EXPECT_EQ(identity.source, "RANK");
  ASSERT_FALSE(identity.disagreements.empty());
  EXPECT_THAT(identity.disagreements[0],
              HasSubstr("RANK says rank 1 of 4, OMPI_COMM_WORLD_RANK says rank 2 of 3"));
}

TEST_F(IdentityTest, OfMpirunMeetsThroughAFileNamedAfterTheJob) {
  set_mpirun();
  const Identity identity = find_identity({}).value();
  EXPECT_TRUE(identity.master_addr.empty());
  EXPECT_THAT(identity.job, HasSubstr("1231028225"));
  EXPECT_TRUE(identity.disagreements.empty());
  EXPECT_EQ(identity.group.local_world, 3);
}

TEST_F(IdentityTest, ComesFromPmiAndFromPmixWithSlurmsWorld) {
  set({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "7"}});
  EXPECT_EQ(find_identity({})->source, "PMI_RANK");
  ::unsetenv("PMI_RANK");
  ::unsetenv("PMI_SIZE");
  set({{"PMIX_RANK", "1"}});
  EXPECT_THAT(complaint(), HasSubstr("nothing says how many ranks"));
  set({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "0"}, {"SLURM_JOB_ID", "9"}});
  EXPECT_EQ(find_identity({})->group.world, 2);
}

TEST_F(IdentityTest, ComesFromSlurmOnlyWithMoreThanOneTask) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_FALSE(find_identity({}).has_value());
  set({{"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_NODELIST", "node[03-04]"}});
  const Identity identity = find_identity({}).value();
  EXPECT_EQ(identity.source, "SLURM_PROCID");
  EXPECT_EQ(identity.master_addr, "");
  EXPECT_EQ(identity.job, "slurm-77.0.0");
  EXPECT_FALSE(identity.local_known);
}

TEST_F(IdentityTest, OfSlurmMeetsAtAPlaceThatOnlyHoldersOfTheUsersKeyCanCompute) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"}});
  set({{"SLURM_STEP_NODELIST", "node[03-04]"}, {"LOCKSTEP_KEY", std::string(64, 'a')}});
  const Identity identity = find_identity({}).value();
  EXPECT_EQ(identity.master_addr, "node03");
  EXPECT_GE(identity.master_port, 20000);
  EXPECT_LE(identity.master_port, 59999);
  set({{"SLURM_PROCID", "1"}});
  EXPECT_EQ(find_identity({})->master_port, identity.master_port);
  set({{"LOCKSTEP_KEY", std::string(64, 'b')}});
  EXPECT_NE(find_identity({})->master_port, identity.master_port);
}

TEST_F(IdentityTest, OfSlurmCountsTheTasksOfItsNode) {
  set({{"SLURM_PROCID", "5"},
       {"SLURM_NTASKS", "7"},
       {"SLURM_LOCALID", "1"},
       {"SLURM_NODEID", "2"},
       {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}});
  const Identity identity = find_identity({}).value();
  EXPECT_TRUE(identity.local_known);
  EXPECT_EQ(identity.group.local_rank, 1);
  EXPECT_EQ(identity.group.local_world, 2);
}

TEST_F(IdentityTest, IsAbsentInASlurmBatchScript) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "77"}, {"ENVIRONMENT", "BATCH"}});
  EXPECT_FALSE(find_identity({}).has_value());
}

TEST_F(IdentityTest, StepsAsideForTorchrunsOwnStore) {
  set_torchrun();
  set({{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(find_identity({})->master_port, 29512);
}

TEST_F(IdentityTest, OfAWorldOfOneNeedsNoMeetingPlace) {
  set({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_EQ(find_identity({})->master_port, 0);
  EXPECT_TRUE(find_identity({})->local_known);
}

TEST(SlurmHosts, FirstOneIsFoundInEveryFormOfList) {
  EXPECT_EQ(first_slurm_host("alpha"), "alpha");
  EXPECT_EQ(first_slurm_host("alpha,beta[1-3]"), "alpha");
  EXPECT_EQ(first_slurm_host("node[03-05,9],other7"), "node03");
  EXPECT_EQ(first_slurm_host("node[7]-ib"), "node7-ib");
}

TEST(SlurmTasks, AreCountedOnEveryNode) {
  for (const auto& [node, tasks] : std::map<int, int>{{0, 2}, {2, 2}, {3, 1}, {4, 5}})
    EXPECT_EQ(slurm_tasks_on("2(x3),1,5", node), tasks) << node;
  EXPECT_FALSE(slurm_tasks_on("2(x3),1,5", 5).has_value());
  EXPECT_FALSE(slurm_tasks_on("many", 0).has_value());
}

TEST(ThisHost, IsTheSameForProcessesOfOneHostAndAnotherInAnotherNetworkNamespaceOrNode) {
  const testing::TemporaryDirectory directory;
  const auto host_of = [&](const std::string& name, const std::function<int()>& before) {
    testing::ForkedRanks one(1, [&](int) {
      if (before() != 0) return 42;
      std::ofstream(directory.path() + "/" + name) << this_host();
      return 0;
    });
    if (one.wait(0) == 42) return std::string("not allowed");
    std::string host;
    std::ifstream(directory.path() + "/" + name) >> host;
    return host;
  };
  EXPECT_EQ(host_of("same", [] { return 0; }), this_host());
  EXPECT_NE(host_of("node", [] { return ::setenv("SLURMD_NODENAME", "n2", 1); }), this_host());
  EXPECT_EQ(host_name_of(this_host()).find('/'), std::string::npos);
  const std::string elsewhere = host_of("namespace", [] { return ::unshare(CLONE_NEWNET); });
  if (elsewhere == "not allowed") GTEST_SKIP() << "network namespaces need root";
  EXPECT_NE(elsewhere, this_host());
  EXPECT_EQ(host_name_of(elsewhere), host_name_of(this_host()));
}

TEST(OwnAddresses, OfAnInterfaceThatIsNotThereAreRefusedWithThoseThereAre) {
  EXPECT_EQ(routable_address("lo"), "127.0.0.1");
  try {
    routable_address("nothing0");
    FAIL() << "there is such an interface";
  } catch (const base::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no interface 'nothing0'"));
    EXPECT_THAT(error.what(), HasSubstr("There are: "));
  }
}

TEST(OwnAddresses, StandInForANameThatIsLoopbackHereAndForNothingElse) {
  for (const std::string address : {"127.0.0.1", "localhost", "10.0.0.7", "no.such.host.invalid"})
    EXPECT_EQ(reachable_address(address, ""), address);
  if (routable_address("").empty()) GTEST_SKIP() << "nothing but loopback here";
  // Every spelling of a loopback address that is no number stands for a name of Debian's /etc/hosts.
  EXPECT_EQ(reachable_address("0177.1", ""), routable_address(""));
}

}  // namespace
}  // namespace lockstep::comm
