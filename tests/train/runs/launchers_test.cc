// Real workers under somebody else's launcher.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/namespaces.h"
#include "tests/train/runs/train_run.h"

namespace lockstep::testing {
namespace {

constexpr const char* kMpirun = "mpirun --allow-run-as-root --oversubscribe -n 2";

TEST(UnderMpirun, TrainingEndsWellOverEveryBackend) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "there is no mpirun here";
  const TrainStore store;
  for (const std::string backend : {"mpi", "gloo", "shm"}) {
    const TrainRun run = store.train(
        "--data digits --train-samples 320 --steps 8 --threads 1 --backend " + backend, 120, kMpirun);
    EXPECT_EQ(run.exit_code, 0) << backend << "\n" << run.err;
    EXPECT_EQ(run.record.at("status"), "finished");
    EXPECT_EQ(run.record.at("workers"), 2);
  }
}

TEST(RanksByHand, OneThatNeverArrivesEndsTheRunAtTheJoinTimeout) {
  const TrainStore store;
  const auto start = std::chrono::steady_clock::now();
  const TrainRun run = store.train(
      "--data digits --steps 3 --rank 0 --world 2 --master-addr 127.0.0.1 --master-port 29521 --join-timeout "
      "2s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(7));
  EXPECT_EQ(run.exit_code, 124) << run.err;
  EXPECT_EQ(run.record.at("failure").at("rank"), 1);
  EXPECT_EQ(run.record.at("failure").at("kind"), "timed_out");
}

TEST(RanksByHand, OnLoopbackShareTheCores) {
  const TrainStore store;
  const TrainRun run = store.train(
      "--data digits --train-samples 320 --steps 8", 120,
      "env WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29522 sh -c 'RANK=1 \"$@\" > /dev/null & RANK=0 "
      "\"$@\"; code=$?; wait; exit $code' ranks");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int cores = run.record.at("machine").at("cores");
  EXPECT_LE(2 * run.record.at("threads").get<int>(), std::max(2, cores));
  EXPECT_EQ(run.record.contains("oversubscribed"), cores < 2);
}

// Two hosts with one kernel and one name: only the ranks themselves can find out.
class RanksOnTwoHosts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!hosts_.why_not().empty()) GTEST_SKIP() << hosts_.why_not();
  }
  // `arguments` are both ranks', `rank_1` is put before the command of rank 1.
  TrainRun train(const std::string& arguments, const std::string& rank_1 = "",
                 const std::string& master = NamespacePair::address(0)) const {
    return store_.train("--data digits --train-samples 320 --steps 8 " + arguments, 120,
                        "env WORLD_SIZE=2 MASTER_ADDR=" + master + " MASTER_PORT=29523 sh -c '" +
                            hosts_.prefix(1) + "env RANK=1 " + rank_1 + " \"$@\" > /dev/null & " +
                            hosts_.prefix(0) +
                            "env RANK=0 \"$@\"; code=$?; wait $! || code=$?; exit $code' ranks");
  }
  // Put before a command: it sees an empty directory where the store is.
  std::string without_the_store() const {
    const std::string script = place_.path().string() + "/hide";
    std::ofstream(script) << "mount -t tmpfs none '" << store_.path().string() << "' && exec \"$@\"\n";
    return "unshare -m sh " + script;
  }

  const NamespacePair hosts_;
  const TrainStore store_, place_;
};

TEST_F(RanksOnTwoHosts, TrainOverGlooWithDefaultFlagsAndUseTheirOwnCores) {
  const TrainRun run = train("");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.record.at("status"), "finished");
  EXPECT_EQ(run.record.at("spec").at("backend"), "gloo");
  EXPECT_EQ(run.record.at("local_world"), 1);
  EXPECT_FALSE(run.record.contains("oversubscribed"));
  for (const auto& entry : std::filesystem::directory_iterator(store_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("meeting")) << entry.path();
}

TEST_F(RanksOnTwoHosts, BelieveWhatTheyFindAndNotWhatAVariableSays) {
  const TrainRun run = train("", "LOCAL_RANK=1 LOCAL_WORLD_SIZE=2");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.record.at("spec").at("backend"), "gloo");
}

TEST_F(RanksOnTwoHosts, MeetAtANameThatIsLoopbackOnItsOwnHost) {
  // 0177.1 is 127.0.0.1 to the resolver, as a host's own name is where Debian's /etc/hosts has it.
  const TrainRun run = train("--interface " + std::string(NamespacePair::interface()), "", "0177.1");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.record.at("spec").at("backend"), "gloo");
}

TEST_F(RanksOnTwoHosts, NameAStoreThatTheyDoNotShare) {
  const TrainRun run = train("--join-timeout 8s", without_the_store());
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.err.find("the store is not shared between the hosts"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("export LOCKSTEP_KEY"), std::string::npos) << run.err;
  EXPECT_EQ(run.record.at("failure").at("rank"), 1);
}

TEST_F(RanksOnTwoHosts, WithAKeyAndNoSharedStoreSayThatTheRunIsKeptElsewhere) {
  const TrainRun run =
      train("--join-timeout 8s", "env LOCKSTEP_KEY=" + std::string(64, 'k') + " " + without_the_store());
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.err.find("another key"), std::string::npos) << run.err;
  ::setenv("LOCKSTEP_KEY", std::string(64, 'k').c_str(), 1);
  const TrainRun with_key = train("--join-timeout 8s", without_the_store());
  ::unsetenv("LOCKSTEP_KEY");
  EXPECT_EQ(with_key.exit_code, 1);
  EXPECT_NE(with_key.err.find("is not on the host of rank 1: the store is not shared"), std::string::npos)
      << with_key.err;
}

}  // namespace
}  // namespace lockstep::testing
