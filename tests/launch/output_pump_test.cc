// Where ranks' output goes.
#include "lockstep/launch/output_pump.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "lockstep/launch/pipe.h"
#include "tests/launch/temporary_directory.h"

namespace lockstep::launch {
namespace {

class OutputPumpTest : public testing::Test {
 protected:
  OutputPumpTest()
      : output_(open_file("out")),
        error_(open_file("err")),
        pump_(std::make_unique<OutputPump>(
            OutputPumpOptions{2, directory_.path() / "logs", false, output_.get(), error_.get()})) {}

  base::UniqueFd open_file(const char* name) {
    return base::UniqueFd(open((directory_.path() / name).c_str(), O_WRONLY | O_CREAT, 0600));
  }
  // The end a rank would write to.
  base::UniqueFd stream(int rank, Channel channel) {
    Pipe pipe = make_pipe();
    pump_->add_stream(rank, channel, std::move(pipe.read_end));
    return std::move(pipe.write_end);
  }
  static void write_to(const base::UniqueFd& fd, std::string_view text) {
    ASSERT_EQ(write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void pump_until_quiet() {
    const base::Deadline deadline(std::chrono::seconds(20));
    while ((pump_->streams_open() || !pump_->drained()) && !deadline.passed()) {
      PollSet polls;
      pump_->watch(polls);
      polls.wait(deadline);
    }
  }
  std::string output() { return text_of(directory_.path() / "out"); }
  std::string error() { return text_of(directory_.path() / "err"); }

  TemporaryDirectory directory_;
  base::UniqueFd output_, error_;
  std::unique_ptr<OutputPump> pump_;
};

TEST_F(OutputPumpTest, passes_rank_0s_standard_output_untouched) {
  const std::string bytes("no end\0\xff\r\n\nlast", 15);
  write_to(stream(0, Channel::output), bytes);
  pump_until_quiet();
  EXPECT_EQ(output(), bytes);
  EXPECT_EQ(error(), "");
}

TEST_F(OutputPumpTest, tags_every_other_line_and_completes_the_last) {
  write_to(stream(0, Channel::error), "a\n");
  write_to(stream(1, Channel::output), "b\nc");
  write_to(stream(1, Channel::error), "d");
  pump_until_quiet();
  EXPECT_EQ(output(), "");
  EXPECT_EQ(error(), "[rank0] a\n[rank1] b\n[rank1] c\n[rank1] d\n");
}

TEST_F(OutputPumpTest, shows_a_few_errors_and_counts_the_rest) {
  std::string errors;
  for (int i = 0; i < OutputPump::kMostErrorsShown + 5; ++i) errors += "error: cannot join\n";
  write_to(stream(1, Channel::error), errors + "the end\n");
  pump_->close_streams();
  pump_until_quiet();
  const std::string shown = error();
  EXPECT_THAT(shown, testing::EndsWith("[rank1] the end\n5 more such errors are in the ranks' logs\n"));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), OutputPump::kMostErrorsShown + 2);
  EXPECT_EQ(text_of(directory_.path() / "logs" / "rank1.log"), errors + "the end\n");
}

TEST_F(OutputPumpTest, logs_both_streams_of_a_rank) {
  write_to(stream(1, Channel::output), "result\n");
  write_to(stream(1, Channel::error), "word\n");
  pump_until_quiet();
  EXPECT_EQ(text_of(directory_.path() / "logs" / "rank1.log"), "result\nword\n");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "logs" / "rank0.log"));
}

TEST_F(OutputPumpTest, carries_much_output_whole) {
  base::UniqueFd rank = stream(0, Channel::output);
  const std::string line(999, 'x');
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i) write_to(rank, line + "\n");
    rank.reset();
  });
  pump_until_quiet();
  writer.join();
  EXPECT_EQ(output().size(), 3000000U);
}

TEST_F(OutputPumpTest, stops_reading_from_ranks_while_our_reader_does_not_read) {
  Pipe stuck = make_pipe();
  pump_ = std::make_unique<OutputPump>(
      OutputPumpOptions{1, directory_.path() / "logs", false, stuck.write_end.get(), error_.get()});
  base::UniqueFd rank = stream(0, Channel::output);
  fcntl(rank.get(), F_SETFL, O_NONBLOCK);
  const std::string block(4096, 'x');
  std::size_t taken = 0;
  for (int i = 0; i < 2000; ++i) {
    if (write(rank.get(), block.data(), block.size()) > 0) taken += block.size();
    PollSet polls;
    pump_->watch(polls);
    polls.wait(base::Deadline(base::Nanoseconds(0)));
  }
  EXPECT_LT(taken, 2U << 20) << "8 MB were offered";
}

TEST_F(OutputPumpTest, warns_once_about_logs_that_cannot_be_written) {
  std::ofstream(directory_.path() / "file") << "in the way";
  pump_ = std::make_unique<OutputPump>(
      OutputPumpOptions{2, directory_.path() / "file" / "logs", false, output_.get(), error_.get()});
  write_to(stream(0, Channel::output), "one\n");
  write_to(stream(1, Channel::output), "two\n");
  pump_until_quiet();
  const std::string text = error();
  EXPECT_THAT(text, testing::HasSubstr("warning: cannot write"));
  EXPECT_EQ(text.find("warning"), text.rfind("warning"));
  EXPECT_THAT(text, testing::HasSubstr("[rank1] two\n"));
}

}  // namespace
}  // namespace lockstep::launch
