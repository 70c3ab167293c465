// The command line of mpirun, and what passes between the launcher and ranks under it.
#include "lockstep/launch/mpirun_command.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "lockstep/launch/rank_output.h"

namespace lockstep::launch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(MpirunCommand, leaves_binding_and_ending_to_us_and_runs_anywhere) {
  const auto command =
      mpirun_command({"/bin/mpirun", 3, "/some/dir", {"LOCKSTEP_KEY"}, {}, {"prog", "-x", "1"}});
  EXPECT_EQ(command.front(), "/bin/mpirun");
  for (const char* flag : {"--bind-to", "--oversubscribe", "--allow-run-as-root", "--enable-recovery"})
    EXPECT_THAT(command, Contains(flag));
  const std::vector<std::string> tail(command.end() - 7, command.end());
  EXPECT_EQ(tail, (std::vector<std::string>{"-x", "LOCKSTEP_KEY", "-n", "3", "prog", "-x", "1"}));
}

TEST(MpirunCommand, stays_on_this_host_unless_the_user_has_set_otherwise) {
  const auto confined = mpirun_command({"/bin/mpirun", 2, "/some/dir", {}, {}, {"prog"}});
  EXPECT_THAT(confined, AllOf(Contains("btl"), Contains("self,vader"), Contains("oob_tcp_if_include")));
  const auto chosen = mpirun_command({"/bin/mpirun", 2, "/some/dir", {}, {"OMPI_MCA_btl"}, {"prog"}});
  EXPECT_THAT(chosen, AllOf(Not(Contains("self,vader")), Contains("oob_tcp_if_include")));
}

TEST(MpirunCommand, a_missing_mpirun_is_a_missing_device_that_names_the_package) {
  try {
    find_mpirun("/nonexistent:/also/nonexistent");
    FAIL() << "found mpirun where there is none";
  } catch (const base::DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("openmpi-bin"));
  }
}

TEST(RankWord, survives_the_pipe) {
  const auto word = decode_rank_word("exit 2 7");
  ASSERT_TRUE(word);
  EXPECT_EQ(word->kind, RankWord::Kind::exit);
  EXPECT_EQ(encode(*word), "exit 2 7\n");
}

TEST(RankWord, garbage_is_no_word) {
  for (const char* line : {"", "exit", "exit 1", "hello 1 2", "start x y"})
    EXPECT_FALSE(decode_rank_word(line)) << line;
}

}  // namespace
}  // namespace lockstep::launch
