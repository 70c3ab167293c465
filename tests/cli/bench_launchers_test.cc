// The same bench under our launcher, under mpirun and with torchrun's variables set by hand: the same cells,
// all right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

using ::testing::HasSubstr;

const std::string kBench =
    " bench allreduce,allgather,broadcast --backend shm -b 1K -e 16K -f 4 -n 4 --dtype f32,u8 --json";
const std::string kMpirun = "mpirun --allow-run-as-root --oversubscribe --bind-to none ";

// What a run says, without its times.
using Cells = std::set<std::string>;
Cells cells_of(const ProgramRun& run, const std::string& source) {
  EXPECT_EQ(run.exit_code, 0) << run.err;
  Cells cells;
  if (run.exit_code != 0) return cells;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["rank_source"], source);
  for (const auto& result : json["results"])
    cells.insert(nlohmann::json{result["backend"], result["collective"], result["workers"], result["dtype"],
                                result["bytes"], result["buffer"], result["wrong"]}
                     .dump());
  return cells;
}

bool has_mpirun() {
  return run_shell("command -v mpirun").exit_code == 0;
}

// Three shells of their own, a free port, torchrun's names.
std::string by_hand(const std::string& command) {
  return "export MASTER_ADDR=127.0.0.1 WORLD_SIZE=3\n"
         "export MASTER_PORT=$(python3 -c 'import socket; s=socket.socket(); s.bind((\"127.0.0.1\",0)); "
         "print(s.getsockname()[1])')\n"
         "RANK=1 bash -c " +
         command + " & one=$!\nRANK=2 bash -c " + command + " & two=$!\nRANK=0 bash -c " + command +
         "; code=$?\nwait $one || code=$?\nwait $two || code=$?\nexit $code";
}

TEST(BenchLaunchers, all_three_ways_of_starting_agree) {
  const Cells ours = cells_of(run_shell(program() + kBench + " --workers 3"), "our launcher");
  EXPECT_EQ(ours.size(), 2u * 3u * 4u);
  for (const std::string& cell : ours) EXPECT_THAT(cell, HasSubstr(",0]")) << cell;
  const Cells hand = cells_of(run_shell(by_hand("\"" + program() + kBench + "\"")), "RANK");
  EXPECT_EQ(hand, ours);
  if (!has_mpirun()) GTEST_SKIP() << "no mpirun here: only two of three ways were compared";
  const Cells mpirun = cells_of(run_shell(kMpirun + "-n 3 " + program() + kBench), "OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(mpirun, ours);
}

TEST(BenchLaunchers, workers_that_disagree_with_the_environment_are_refused_by_name) {
  const ProgramRun run = run_shell("RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 " + program() +
                                   " bench allreduce --workers 2");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("--workers 2 disagrees with the 1 ranks that RANK says"));
}

TEST(BenchLaunchers, a_rank_that_never_arrives_ends_the_run_at_the_join_timeout) {
  const ProgramRun run = run_shell("RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=0 " + program() +
                                   " bench allreduce --join-timeout 1s");
  EXPECT_NE(run.exit_code, 0);
  const ProgramRun flags = run_lockstep(
      "bench allreduce --rank 0 --world 2 --master-addr 127.0.0.1 --master-port 29763 "
      "--join-timeout 1s",
      30);
  EXPECT_EQ(flags.exit_code, 124) << flags.err;
  EXPECT_THAT(flags.err, HasSubstr("rank 1"));
}

}  // namespace
}  // namespace lockstep::testing
