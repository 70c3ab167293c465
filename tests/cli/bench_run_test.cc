// Runs small benches for real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

nlohmann::json bench_json_of(const std::string& arguments) {
  const ProgramRun run = run_lockstep("bench " + arguments + " --json", 120);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.exit_code == 0 ? nlohmann::json::parse(run.out) : nlohmann::json();
}

void expect_nothing_wrong(const nlohmann::json& json) {
  for (const auto& result : json["results"]) EXPECT_EQ(result["wrong"], 0) << result;
}

bool available(const std::string& backend) {
  const auto json = nlohmann::json::parse(run_lockstep("backends --json").out);
  for (const auto& entry : json["backends"])
    if (entry["name"] == backend) return entry["available"];
  return false;
}

TEST(Bench, measures_all_reduce_over_shm_with_owned_and_private_buffers) {
  const auto json = bench_json_of("allreduce --backend shm --workers 2 -b 4K -e 64K -f 4 -n 10");
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["kind"], "bench");
  EXPECT_GT(json["memory_copy_bytes_per_second"], 0);
  ASSERT_EQ(json["results"].size(), 6u);
  std::set<std::string> buffers;
  for (const auto& result : json["results"]) {
    buffers.insert(result["buffer"]);
    EXPECT_GT(result["seconds"]["median"], 0);
    EXPECT_GE(result["seconds"]["p99"], result["seconds"]["min"]);
    EXPECT_EQ(result["link"], "shm");
  }
  EXPECT_EQ(buffers, (std::set<std::string>{"owned", "private"}));
  expect_nothing_wrong(json);
}

TEST(Bench, checks_every_collective_type_and_reduction_over_shm) {
  const auto json = bench_json_of(
      "all --backend shm --workers 3 --dtype all --op all -b 1000 -e 1000 -n 2 -w 1 --buffer both");
  std::set<std::string> collectives, types, ops;
  for (const auto& result : json["results"]) {
    collectives.insert(result["collective"]);
    types.insert(result["dtype"]);
    if (result.contains("op")) ops.insert(result["op"]);
  }
  EXPECT_EQ(collectives.size(), 9u);
  EXPECT_EQ(types.size(), 7u);
  EXPECT_EQ(ops.size(), 4u);
  expect_nothing_wrong(json);
}

TEST(Bench, lets_backends_take_turns_in_one_run) {
  if (!available("gloo")) GTEST_SKIP() << "this build has no gloo";
  const auto json = bench_json_of("allreduce,broadcast --backend shm,gloo --workers 2 -b 1K -e 1K -n 5");
  std::set<std::string> backends;
  for (const auto& result : json["results"]) backends.insert(result["backend"]);
  EXPECT_EQ(backends, (std::set<std::string>{"shm", "gloo"}));
  expect_nothing_wrong(json);
}

TEST(Bench, starts_itself_through_mpirun_for_backend_mpi) {
  if (!available("mpi")) GTEST_SKIP() << "this build has no MPI";
  const auto json = bench_json_of("allreduce --backend shm,mpi --workers 2 -b 1K -e 4K -n 5");
  EXPECT_EQ(json["results"].size(), 6u);
  expect_nothing_wrong(json);
}

TEST(Bench, runs_replicas_of_one_process_over_local) {
  const auto json = bench_json_of("all --backend local --workers 3 -b 4K -e 4K -n 5");
  EXPECT_EQ(json["results"].size(), 9u);
  expect_nothing_wrong(json);
}

TEST(Bench, prints_the_table_on_standard_output_and_nothing_else) {
  const ProgramRun run = run_lockstep("bench allreduce --workers 2 -b 1K -e 1K -n 5");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(StartsWith("# lockstep bench "), HasSubstr("#wrong"),
                             HasSubstr("# Average bus bandwidth: "), HasSubstr("ranks from our launcher")));
  EXPECT_EQ(run.err, "");
}

TEST(Bench, writes_the_document_to_a_file_beside_the_table) {
  const ProgramRun run = run_shell("file=$(mktemp)\n" + program() +
                                   " bench allreduce --workers 2 -b 1K -e 1K -n 5 --json-file $file "
                                   ">&2 && cat $file; rm $file");
  EXPECT_THAT(run.err, StartsWith("# lockstep bench "));
  EXPECT_EQ(nlohmann::json::parse(run.out)["kind"], "bench");
}

TEST(Bench, shows_progress_on_a_terminal_and_takes_it_away_before_the_results) {
  const std::string bench = program() + " bench allreduce --workers 2 -b 1K -e 4K -n 5";
  const std::string out = run_shell("TERM=xterm script -qec \"" + bench + "\" /dev/null").out;
  const std::size_t bar = out.find("[2/2] all_reduce 4.00 KiB f32");
  ASSERT_NE(bar, std::string::npos) << out;
  EXPECT_THAT(out.substr(bar), HasSubstr("\r\033[K# lockstep bench"));
  EXPECT_THAT(run_shell(bench + " --progress lines").err, HasSubstr("[1/2] all_reduce 1.00 KiB f32"));
}

TEST(Bench, a_missed_threshold_exits_with_5_and_names_what_missed_it) {
  const ProgramRun run = run_lockstep("bench allreduce --workers 2 -b 1K -e 4K -n 5 --min-busbw 900G --json");
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_EQ(nlohmann::json::parse(run.out)["kind"], "bench");
  EXPECT_THAT(run.err, AllOf(HasSubstr("error: bus bandwidth below"), HasSubstr("all_reduce over shm"),
                             HasSubstr("4.00 KiB")));
}

TEST(Bench, a_full_disk_is_an_error_and_a_closed_pipe_is_not) {
  const ProgramRun full = run_lockstep("bench allreduce --workers 2 -b 1K -e 1K -n 5 > /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  const ProgramRun file = run_lockstep("bench allreduce --workers 2 -b 1K -e 1K -n 5 --json-file /dev/full");
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_THAT(file.err, HasSubstr("cannot write /dev/full: No space left on device"));
  const ProgramRun closed = run_shell(program() + " bench allreduce --workers 2 -b 1K -e 1K -n 5 | true");
  EXPECT_EQ(closed.err, "");
}

TEST(Bench, refuses_what_cannot_be_run_with_the_reason) {
  const std::tuple<const char*, int, const char*> refusals[] = {
      {"broadcast --root 2 --workers 2", 3, "no such rank among 2"},
      {"send --workers 1", 3, "send needs two ranks"},
      {"allreduce --backend local,shm", 3, "Bench it on its own"},
      {"allreduce --algorithm gloo:ring --backend shm", 2, "not asked for"},
      {"allreduce --backend ''", 2, "--backend: a name is needed"},
      {"allreduce -i 0", 2, "--step: a step of nothing"},
      {"allreduce --root 1", 2, "--root is for collectives that have one"},
      {"broadcast --op max", 2, "--op is for collectives that reduce"},
      {"allreduce --log-dir /dev/null/x", 1, "logs cannot be kept in /dev/null/x"},
      {"allreduce --json-file /dev/null/x", 1, "no file can be written there"},
      {"allreduce --iterations 100000000000", 2, "too large: at most 2147483647"},
      {"allreduce --rank 0 --world 1 --master-port 99999", 2,
       "--master-port: 99999 is too large: at most 65535"},
  };
  for (const auto& [line, code, expected] : refusals) {
    const ProgramRun run = run_lockstep(std::string("bench ") + line);
    EXPECT_EQ(run.exit_code, code) << line;
    EXPECT_THAT(run.err, HasSubstr(expected)) << line;
    EXPECT_EQ(run.out, "") << line;
  }
}

}  // namespace
}  // namespace lockstep::testing
