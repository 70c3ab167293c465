// How a stream of bytes becomes lines.
#include "lockstep/launch/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::launch {
namespace {

struct Lines {
  std::vector<std::string> all;
  LineSplitter::Action action = [this](std::string_view line) { all.emplace_back(line); };
};

TEST(LineSplitter, joins_a_line_that_comes_in_pieces) {
  LineSplitter splitter;
  Lines lines;
  splitter.feed("on", lines.action);
  splitter.feed("e\ntwo\nthr", lines.action);
  EXPECT_EQ(lines.all, (std::vector<std::string>{"one", "two"}));
  splitter.finish(lines.action);
  EXPECT_EQ(lines.all.back(), "thr");
}

TEST(LineSplitter, keeps_empty_lines_and_invents_none) {
  LineSplitter splitter;
  Lines lines;
  splitter.feed("\n\na\n", lines.action);
  splitter.finish(lines.action);
  EXPECT_EQ(lines.all, (std::vector<std::string>{"", "", "a"}));
}

TEST(LineSplitter, bounds_a_line_without_an_end) {
  LineSplitter splitter;
  Lines lines;
  splitter.feed(std::string(3 * LineSplitter::kLongestLine + 5, 'x'), lines.action);
  splitter.finish(lines.action);
  ASSERT_EQ(lines.all.size(), 4U);
  EXPECT_EQ(lines.all[0].size(), LineSplitter::kLongestLine);
  EXPECT_EQ(lines.all[3].size(), 5U);
}

TEST(LineSplitter, a_line_of_exactly_the_bound_is_one_line) {
  LineSplitter splitter;
  Lines lines;
  splitter.feed(std::string(LineSplitter::kLongestLine, 'x') + "\nnext\n", lines.action);
  ASSERT_EQ(lines.all.size(), 2U);
  EXPECT_EQ(lines.all[1], "next");
}

TEST(LineSplitter, any_byte_may_stand_in_a_line) {
  LineSplitter splitter;
  Lines lines;
  const std::string binary("a\0b\xff\r", 5);
  splitter.feed(binary + "\n", lines.action);
  EXPECT_EQ(lines.all, std::vector<std::string>{binary});
}

}  // namespace
}  // namespace lockstep::launch
