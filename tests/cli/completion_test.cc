#include "lockstep/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/cli/program.h"

namespace lockstep::cli {
namespace {

TEST(Completion, knows_every_flag_of_every_command) {
  const Commands commands = make_commands();
  const std::string script = bash_completion(commands);
  for (const auto& command : commands) {
    EXPECT_THAT(script, ::testing::HasSubstr(std::string(command->name())));
    for (const Flag& flag : command->flags())
      if (!flag.is_positional())
        for (const std::string& spelling : spellings(flag))
          EXPECT_THAT(script, ::testing::HasSubstr(spelling)) << command->name();
  }
}

TEST(Help, every_command_has_two_to_four_examples_and_every_flag_a_text) {
  for (const auto& command : make_commands()) {
    EXPECT_GE(command->examples().size(), 2u) << command->name();
    EXPECT_LE(command->examples().size(), 4u) << command->name();
    for (const Flag& flag : command->flags()) EXPECT_FALSE(flag.help.empty()) << flag.names;
  }
}

}  // namespace
}  // namespace lockstep::cli
