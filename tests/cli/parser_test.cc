#include "lockstep/cli/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/cli/setters.h"

namespace lockstep::cli {
namespace {

// A command that only keeps what its flags set.
class SampleCommand : public Command {
 public:
  std::string_view name() const override { return "sample"; }
  std::string_view summary() const override { return "keeps values"; }
  std::vector<Example> examples() const override { return {}; }
  std::vector<Flag> flags() override {
    return {{.names = "word", .value = "WORD", .help = "", .set = words(positional)},
            {.names = "--word", .value = "WORD", .help = "", .set = words(positional)},
            {.names = "-b,--batch-size", .value = "N", .help = "", .set = whole_number(batch_size, 1)},
            {.names = "--backend", .value = "LIST", .help = "", .set = words(backends)},
            {.names = "--json", .help = "", .set = turn_on(json)}};
  }
  int run(const Invocation&) override { return 0; }

  std::vector<std::string> positional, backends;
  int batch_size = 0;
  bool json = false;
};

class Parser : public ::testing::Test {
 protected:
  Parser() {
    auto command = std::make_unique<SampleCommand>();
    sample = command.get();
    commands.push_back(std::move(command));
  }
  std::string complaint(const std::vector<std::string>& arguments) {
    try {
      parse_line(arguments, commands);
    } catch (const base::UsageError& error) {
      return error.what();
    }
    return "";
  }
  Commands commands;
  SampleCommand* sample;
};

TEST_F(Parser, takes_dash_and_underscore_spellings_of_a_flag) {
  parse_line({"sample", "--batch_size", "4"}, commands);
  EXPECT_EQ(sample->batch_size, 4);
  parse_line({"sample", "--batch-size=5"}, commands);
  EXPECT_EQ(sample->batch_size, 5);
}

TEST_F(Parser, keeps_underscores_in_values_and_after_a_bare_double_dash) {
  EXPECT_EQ(with_dashes({"--log_dir=a_b", "c_d", "--", "--e_f"}),
            (std::vector<std::string>{"--log-dir=a_b", "c_d", "--", "--e_f"}));
}

TEST_F(Parser, takes_short_flags_with_the_value_attached) {
  parse_line({"sample", "-b8"}, commands);
  EXPECT_EQ(sample->batch_size, 8);
}

TEST_F(Parser, adds_up_lists_that_are_given_twice) {
  parse_line({"sample", "--backend", "shm", "--backend", "gloo,mpi"}, commands);
  EXPECT_EQ(sample->backends, (std::vector<std::string>{"shm", "gloo", "mpi"}));
}

TEST_F(Parser, does_not_let_a_list_swallow_the_words_after_it) {
  parse_line({"sample", "--backend", "shm", "allreduce"}, commands);
  EXPECT_EQ(sample->positional, (std::vector<std::string>{"allreduce"}));
}

TEST_F(Parser, takes_an_argument_and_a_flag_of_the_same_name) {
  parse_line({"sample", "one", "--word", "two"}, commands);
  EXPECT_EQ(sample->positional, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Parser, names_a_misspelt_command_and_what_it_was_meant_to_be) {
  EXPECT_EQ(complaint({"smaple"}), "there is no command 'smaple'. Did you mean 'sample'? There are: sample.");
}

TEST_F(Parser, gives_no_help_for_a_command_that_there_is_not) {
  EXPECT_THAT(complaint({"smaple", "--help"}), testing::HasSubstr("there is no command 'smaple'"));
  EXPECT_TRUE(parse_line({"--nonsense", "--help"}, commands).common.help);
}

TEST_F(Parser, names_a_misspelt_flag_before_the_value_it_left_behind) {
  EXPECT_EQ(complaint({"sample", "--bckend", "shm"}),
            "lockstep sample has no flag '--bckend'. Did you mean '--backend'? See lockstep sample --help.");
}

TEST_F(Parser, says_which_flag_lacks_its_value) {
  EXPECT_EQ(complaint({"sample", "--batch-size"}), "--batch-size needs a value.");
}

TEST_F(Parser, says_which_flag_has_a_bad_value) {
  EXPECT_EQ(complaint({"sample", "-b", "none"}), "--batch-size: 'none' is not a whole number.");
}

TEST_F(Parser, answers_help_whatever_else_is_wrong) {
  const ParsedLine line = parse_line({"sample", "--nonsense", "--help"}, commands);
  EXPECT_TRUE(line.common.help);
  EXPECT_EQ(line.command, sample);
}

TEST_F(Parser, takes_color_before_and_after_the_command) {
  EXPECT_EQ(parse_line({"--color", "never", "sample"}, commands).common.color, "never");
  EXPECT_EQ(parse_line({"sample", "--color=always"}, commands).common.color, "always");
}

}  // namespace
}  // namespace lockstep::cli
