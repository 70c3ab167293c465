#include "lockstep/cli/train/event_tail.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace lockstep::cli {
namespace {

class EventTailTest : public ::testing::Test {
 protected:
  ~EventTailTest() override { std::filesystem::remove_all(directory); }

  void write(const std::string& text) { std::ofstream(directory / "rank0.jsonl", std::ios::app) << text; }
  static std::string step(int number) {
    record::StepEvent step;
    step.step = number;
    return record::to_line({0, 0.1 * number, step}) + "\n";
  }

  static std::filesystem::path make_directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-tail-XXXXXX").string();
    return ::mkdtemp(pattern.data());
  }

  std::filesystem::path directory = make_directory();
  EventTail tail{directory / "rank0.jsonl"};
};

std::int64_t step_of(const record::Event& event) {
  return std::get<record::StepEvent>(event.body).step;
}

TEST_F(EventTailTest, a_file_that_is_not_there_yet_has_no_events) {
  EXPECT_TRUE(tail.read_new().empty());
  write(step(0));
  EXPECT_EQ(tail.read_new().size(), 1u);
}

TEST_F(EventTailTest, of_many_steps_only_the_last_before_another_event_is_read) {
  record::EpochEvent epoch;
  epoch.epoch = 1;
  write(step(0) + step(1) + record::to_line({0, 1, epoch}) + "\n" + step(2) + step(3));
  const auto events = tail.read_new();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(step_of(events[0]), 1);
  EXPECT_EQ(step_of(events[2]), 3);
}

TEST_F(EventTailTest, a_line_that_is_still_being_written_waits_for_its_end) {
  const std::string line = step(5);
  write(line.substr(0, 10));
  EXPECT_TRUE(tail.read_new().empty());
  write(line.substr(10));
  ASSERT_EQ(tail.read_new().size(), 1u);
}

TEST_F(EventTailTest, a_damaged_line_is_passed_over) {
  write("nonsense\n" + step(7));
  const auto events = tail.read_new();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(step_of(events[0]), 7);
}

}  // namespace
}  // namespace lockstep::cli
