// The program's manners: help, mistakes, exit codes, pipes and full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/cli/program_run.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const char* const kCommands[] = {"train", "bench",    "fit",  "doctor",    "models",
                                 "data",  "backends", "runs", "completion"};

TEST(Program, help_of_the_program_and_of_every_command_leads_with_examples) {
  std::vector<std::string> lines = {"--help", "-h"};
  for (const char* command : kCommands) lines.push_back(std::string(command) + " --help");
  for (const std::string& line : lines) {
    const ProgramRun run = run_lockstep(line);
    EXPECT_EQ(run.exit_code, 0) << line;
    EXPECT_THAT(run.out, HasSubstr("Examples\n")) << line;
    EXPECT_LT(run.out.find("Examples\n"), run.out.find("Flags\n")) << line;
    EXPECT_THAT(run.err, IsEmpty()) << line;
  }
}

TEST(Program, help_comes_without_delay) {
  const auto start = std::chrono::steady_clock::now();
  constexpr int kTimes = 10;
  run_shell("for i in $(seq " + std::to_string(kTimes) + "); do " + program() + " --help > /dev/null; done");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Program, help_opens_no_plugin) {
  const ProgramRun run = run_shell("LD_DEBUG=files " + program() + " --help 2>&1 | grep -c 'backend_.*so'");
  EXPECT_THAT(run.out, StartsWith("0"));
}

TEST(Program, version_names_compiler_and_build) {
  const ProgramRun run = run_lockstep("--version");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, AllOf(StartsWith("lockstep "), HasSubstr("("), HasSubstr("GNU")));
}

TEST(Program, without_a_command_it_shows_the_help_and_says_what_is_missing) {
  const ProgramRun run = run_lockstep("");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, AllOf(HasSubstr("Examples"), HasSubstr("error: a command is needed.")));
}

TEST(Program, mistakes_in_the_line_exit_with_2_one_message_and_a_suggestion) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"bnech", "Did you mean 'bench'?"},
      {"bench allreduce --bckend shm", "Did you mean '--backend'?"},
      {"bench allreduce --backend smh", "Did you mean 'shm'?"},
      {"bench allredcue", "Did you mean 'all_reduce'?"},
      {"bench allreduce --dtype f23", "Did you mean 'f32'?"},
      {"bench allreduce --op smu", "Did you mean 'sum'?"},
      {"bench allreduce -b", "needs a value"},
      {"bench allreduce -b 4Q", "'4Q' is not a size"},
      {"bench", "which collective?"},
      {"bench allreduce --color blue", "none of auto, always, never"},
      {"completion zsh", "'zsh' is unknown: there is only bash."},
      {"backends surplus", "does not know what to do with 'surplus'"},
  };
  for (const auto& [line, expected] : mistakes) {
    const ProgramRun run = run_lockstep(line);
    EXPECT_EQ(run.exit_code, 2) << line;
    EXPECT_THAT(run.out, IsEmpty()) << line;
    EXPECT_THAT(run.err, AllOf(StartsWith("error: "), HasSubstr(expected))) << line;
  }
}

TEST(Program, values_that_contradict_each_other_exit_with_3) {
  const ProgramRun run = run_lockstep("bench allreduce -b 2M -e 1M");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("is above"));
}

TEST(Program, underscores_do_in_flags_what_dashes_do) {
  const ProgramRun run = run_lockstep("bench allreduce --min_bytes 2M --max_bytes=1M");
  EXPECT_THAT(run.err, HasSubstr("--min-bytes 2.00 MiB is above --max-bytes 1.00 MiB"));
}

TEST(Program, a_reader_that_stops_reading_ends_it_quietly) {
  const ProgramRun run = run_shell(program() + " completion bash | head -n 1");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, IsEmpty());
  const ProgramRun closed = run_shell("(sleep 0.2; " + program() + " bench --help; echo $? >&2) | true");
  EXPECT_EQ(closed.err, "141\n");
}

TEST(Program, a_closed_standard_output_is_an_error) {
  const ProgramRun run = run_shell(program() + " --version >&-");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot be written to standard output"));
}

TEST(Program, a_full_disk_is_an_error) {
  for (const char* line : {"--help", "backends", "completion bash"}) {
    const ProgramRun run = run_lockstep(std::string(line) + " > /dev/full");
    EXPECT_EQ(run.exit_code, 1) << line;
    EXPECT_THAT(run.err, HasSubstr("No space left on device")) << line;
  }
}

TEST(Program, colour_is_for_terminals_and_for_those_who_ask) {
  EXPECT_THAT(run_lockstep("backends").out, Not(HasSubstr("\033[")));
  EXPECT_THAT(run_lockstep("backends --color always").out, HasSubstr("\033["));
  EXPECT_THAT(run_lockstep("bnech --color always").err, Not(HasSubstr("\033[")));
}

TEST(Program, on_a_terminal_no_color_takes_colour_away) {
  const std::string on_terminal = "script -qec \"" + program() + " backends\" /dev/null";
  EXPECT_THAT(run_shell("TERM=xterm " + on_terminal).out, HasSubstr("\033[1m"));
  EXPECT_THAT(run_shell("NO_COLOR=1 TERM=xterm " + on_terminal).out, Not(HasSubstr("\033[1m")));
}

}  // namespace
}  // namespace lockstep::testing
