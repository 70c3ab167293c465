// Tests of lockstep doctor, through the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(Doctor, tries_every_part_and_gives_a_next_step_for_what_is_missing) {
  const ProgramRun run = run_lockstep("doctor --json", 120);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["kind"], "doctor");
  std::map<std::string, nlohmann::json> by_name;
  for (const auto& finding : json["findings"]) {
    EXPECT_THAT(finding["state"].get<std::string>(), AnyOf("ok", "missing", "broken"));
    EXPECT_TRUE(finding["state"] == "ok" || finding["next_step"] != "") << finding;
    by_name[finding["name"]] = finding;
  }
  for (const char* name : {"cores",
                           "quota",
                           "memory",
                           "instructions",
                           "shared memory",
                           "loopback",
                           "network namespaces",
                           "local",
                           "shm",
                           "gloo",
                           "mpi",
                           "mpirun",
                           "python torch",
                           "cuda",
                           "mps",
                           "mnist",
                           "fashion-mnist",
                           "cifar10",
                           "driving",
                           "images",
                           "folder",
                           "digits",
                           "road",
                           "texture"})
    EXPECT_TRUE(by_name.contains(name)) << name;
  EXPECT_EQ(by_name["shared memory"]["state"], "ok");
  EXPECT_EQ(by_name["loopback"]["state"], "ok");
}

TEST(Doctor, says_what_has_not_been_tried) {
  EXPECT_THAT(run_lockstep("doctor", 120).out, HasSubstr("More than one physical GPU has not been tried"));
}

TEST(Doctor, a_program_that_hangs_does_not_hang_the_doctor) {
  const ProgramRun run = run_shell(
      "d=$(mktemp -d); printf '#!/bin/sh\\nsleep 100\\n' > $d/mpirun; chmod +x $d/mpirun; PATH=$d:$PATH " +
          program() + " doctor; rm -r $d",
      100);
  EXPECT_THAT(run.out, AllOf(HasSubstr("broken  mpirun"), HasSubstr("no answer within the limit")));
}

}  // namespace
}  // namespace lockstep::testing
