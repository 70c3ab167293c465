// Sources the completion script in bash and asks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What is offered for the last of `words`, a space between each two.
std::string offered(const std::string& words) {
  const ProgramRun run =
      run_shell("source <(" + program() + " completion bash)\nCOMP_WORDS=(lockstep " + words +
                ")\nCOMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))\n_lockstep\necho \"${COMPREPLY[@]}\"");
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(BashCompletion, offers_commands) {
  EXPECT_EQ(offered("be"), "bench\n");
  EXPECT_THAT(offered("''"), AllOf(HasSubstr("train "), HasSubstr(" strategies "), HasSubstr(" completion")));
}

TEST(BashCompletion, offers_the_flags_of_the_command_that_was_typed) {
  EXPECT_THAT(offered("bench --min"), AllOf(HasSubstr("--min-bytes"), HasSubstr("--min-busbw")));
  EXPECT_THAT(offered("doctor --"), AllOf(HasSubstr("--json"), Not(HasSubstr("--min-bytes"))));
  EXPECT_THAT(offered("--v"), HasSubstr("--version"));
}

TEST(BashCompletion, offers_backends_collectives_types_and_reductions) {
  EXPECT_EQ(offered("bench --backend s"), "shm\n");
  EXPECT_EQ(offered("bench all_r"), "all_reduce\n");
  EXPECT_EQ(offered("bench -d bf"), "bf16\n");
  EXPECT_EQ(offered("bench --op m"), "mean max min\n");
  EXPECT_EQ(offered("completion ''"), "bash\n");
}

TEST(BashCompletion, offers_the_fields_of_a_spec_and_their_values) {
  EXPECT_EQ(offered("train --first"), "--first-bucket-bytes\n");
  EXPECT_EQ(offered("train --model lenet"), "lenet5\n");
  EXPECT_EQ(offered("train --data fa"), "fashion-mnist\n");
  EXPECT_EQ(offered("train --no-m"), "--no-measure\n");
  EXPECT_EQ(offered("train --set batch_"), "batch_size=\n");
  EXPECT_EQ(offered("runs ''"), "list show export import conclude rm reindex\n");
}

TEST(BashCompletion, continues_a_list_after_its_last_comma) {
  EXPECT_EQ(offered("bench --backend shm,gl"), "shm,gloo\n");
}

TEST(BashCompletion, understands_the_equals_sign_and_underscores) {
  EXPECT_EQ(offered("bench --backend = g"), "gloo\n");
  EXPECT_EQ(offered("bench --color ne"), "never\n");
}

TEST(BashCompletion, leaves_free_values_to_the_shell) {
  EXPECT_EQ(offered("bench --log_dir ''"), "\n");
}

}  // namespace
}  // namespace lockstep::testing
