// One child process.
#include "lockstep/launch/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>

#include <cstdio>
#include <thread>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/launch/pipe.h"

namespace lockstep::launch {
namespace {

class ProcessTest : public testing::Test {
 protected:
  ProcessOptions shell(const std::string& script) {
    ProcessOptions options;
    options.command = {"sh", "-c", script};
    options.environment = {{"PATH", "/usr/bin:/bin"}, {"GREETING", "hello"}};
    options.output_fd = pipe_.write_end.get();
    options.error_fd = pipe_.write_end.get();
    return options;
  }
  static ExitStatus end_of(Process& process) {
    const base::Deadline deadline(std::chrono::seconds(20));
    while (!process.status() && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return process.status().value_or(ExitStatus{ExitStatus::Kind::vanished, 0});
  }
  std::string said() {
    pipe_.write_end.reset();
    std::string text(4096, '\0');
    const ssize_t count = read(pipe_.read_end.get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }
  Pipe pipe_ = make_pipe();
};

TEST_F(ProcessTest, has_the_environment_it_was_given_and_nothing_but_its_streams_open) {
  const base::UniqueFd stray(open("/dev/null", O_RDONLY));  // inheritable
  Process process(shell("echo $GREETING; echo /proc/self/fd/*"));
  EXPECT_TRUE(end_of(process).ok());
  EXPECT_THAT(said(),
              testing::MatchesRegex("hello\n/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2( .*/3)?\n"));
}

TEST_F(ProcessTest, reports_exit_codes_and_signals) {
  Process exits(shell("exit 7"));
  Process dies(shell("kill -9 $$"));
  EXPECT_EQ(describe(end_of(exits)), "exited with code 7");
  EXPECT_EQ(describe(end_of(dies)), "was killed by signal 9 (SIGKILL)");
}

TEST_F(ProcessTest, a_program_that_is_not_there_is_named) {
  ProcessOptions options = shell("");
  options.command = {"no-such-program-anywhere"};
  try {
    Process process(options);
    FAIL() << "started a program that does not exist";
  } catch (const base::ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no-such-program-anywhere"));
  }
}

TEST_F(ProcessTest, what_it_leaves_in_its_group_ends_with_it) {
  Process process(shell("sleep 60 & echo $!"));
  EXPECT_TRUE(end_of(process).ok());
  const pid_t left = std::stoi(said());
  const base::Deadline deadline(std::chrono::seconds(10));
  while (kill(left, 0) == 0 && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  // A zombie that nobody reaps still has a number; it does not sleep any more.
  std::string state = "gone";
  if (FILE* file = fopen(("/proc/" + std::to_string(left) + "/stat").c_str(), "r")) {
    char letter = '?';
    if (fscanf(file, "%*d %*s %c", &letter) == 1) state = letter;
    fclose(file);
  }
  EXPECT_TRUE(state == "gone" || state == "Z") << state;
}

TEST_F(ProcessTest, is_pinned_before_it_runs) {
  ProcessOptions options = shell("grep Cpus_allowed_list /proc/self/status");
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  int first = 0;
  while (!CPU_ISSET(first, &mine)) ++first;
  options.cpus = {first};
  Process process(options);
  EXPECT_TRUE(end_of(process).ok());
  EXPECT_EQ(said(), "Cpus_allowed_list:\t" + std::to_string(first) + "\n");
}

TEST_F(ProcessTest, does_not_outlive_its_owner) {
  pid_t pid = 0;
  {
    Process process(shell("sleep 60"));
    pid = process.pid();
  }
  EXPECT_NE(kill(pid, 0), 0);
}

}  // namespace
}  // namespace lockstep::launch
