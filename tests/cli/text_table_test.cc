#include "lockstep/cli/text_table.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

TEST(TextTable, aligns_words_left_and_numbers_right_and_leaves_out_empty_columns) {
  TextTable table({{"name", false}, {"n"}, {"nothing"}, {"what", false}});
  table.add({"a", "1,000", "", "x"});
  table.add({"longer", "2", "", "y"});
  EXPECT_EQ(table.text(Console("never"), 0),
            "name        n  what\n"
            "a       1,000  x\n"
            "longer      2  y\n");
}

TEST(TextTable, counts_letters_not_bytes) {
  EXPECT_EQ(display_width("500 µs"), 6u);
}

}  // namespace
}  // namespace lockstep::cli
