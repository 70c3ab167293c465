#include "lockstep/base/printable.h"

#include <gtest/gtest.h>

namespace lockstep::base {
namespace {

TEST(Printable, TextStaysAsItIs) {
  const std::string text = "Zwei Zeilen,\n\tdie zweite mit \xC3\xBC, \xE2\x82\xAC und \xF0\x9F\x98\x80";
  EXPECT_EQ(printable(text), text);
  EXPECT_FALSE(first_unprintable(text + "\r\n"));
}

TEST(Printable, WhatMovesATerminalIsSpelt) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("back\rward"), "back\\x0dward");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b") << "a control character of Latin-1";
}

TEST(Printable, WhatIsNoTextIsSpelt) {
  EXPECT_EQ(printable("\xFF\xFE"), "\\xff\\xfe");
  EXPECT_EQ(printable("cut \xE2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Printable, WhatOnlyLooksLikeACharacterIsSpelt) {
  EXPECT_EQ(printable("\xE0\x80\xAF"), "\\xe0\\x80\\xaf") << "a character of one byte in three";
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last one";
}

TEST(Printable, ALineStaysOne) {
  EXPECT_EQ(printable_line("a\nb\tc"), "a\\x0ab\\x09c");
}

TEST(Printable, TheFirstByteThatIsNoTextIsFound) {
  EXPECT_EQ(first_unprintable("ab\x01"), 2u);
  EXPECT_EQ(first_unprintable("\xC3\xBC\x80"), 2u);
  EXPECT_FALSE(first_unprintable(""));
}

}  // namespace
}  // namespace lockstep::base
