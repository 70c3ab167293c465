// Tests of splitting, joining and of finding what a misspelt word was meant to be.
#include "lockstep/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kBackends = {"local", "shm", "gloo", "mpi", "nccl"};
const std::vector<std::string> kCommands = {"train", "bench", "doctor", "backends", "completion"};

TEST(Split, GivesThePartsBetweenSeparators) {
  EXPECT_THAT(split("shm,gloo,mpi", ','), ElementsAre("shm", "gloo", "mpi"));
  EXPECT_THAT(split("shm", ','), ElementsAre("shm"));
}

TEST(Split, KeepsEmptyPartsButAnEmptyTextHasNone) {
  EXPECT_THAT(split(",a,,b,", ','), ElementsAre("", "a", "", "b", ""));
  EXPECT_THAT(split("", ','), IsEmpty());
}

TEST(Join, IsTheOppositeOfSplit) {
  EXPECT_EQ(join(split("a,,b", ','), ","), "a,,b");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Trim, RemovesSpaceAtBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(EditDistance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("gloo", "gloo"), 0u);
  EXPECT_EQ(edit_distance("glo", "gloo"), 1u);
  EXPECT_EQ(edit_distance("glooo", "gloo"), 1u);
  EXPECT_EQ(edit_distance("gl0o", "gloo"), 1u);
  EXPECT_EQ(edit_distance("golo", "gloo"), 1u);
  EXPECT_EQ(edit_distance("", "mpi"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, DoesNotDependOnTheOrderOfItsArguments) {
  EXPECT_EQ(edit_distance("bench", "branch"), edit_distance("branch", "bench"));
}

TEST(Nearest, FindsAMisspeltWord) {
  EXPECT_EQ(nearest("golo", kBackends), "gloo");
  EXPECT_EQ(nearest("nccll", kBackends), "nccl");
  EXPECT_EQ(nearest("benhc", kCommands), "bench");
}

TEST(Nearest, FindsAnAbbreviation) {
  EXPECT_EQ(nearest("comp", kCommands), "completion");
}

TEST(Nearest, GivesNothingWhenNoWordIsNear) {
  EXPECT_EQ(nearest("infiniband", kBackends), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string>{}), std::nullopt);
}

TEST(Nearest, DoesNotOfferAWordThatSharesNoLetter) {
  EXPECT_EQ(nearest("xyz", std::vector<std::string>{"mpi"}), std::nullopt);
}

TEST(CsvField, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a \"b\", c"), "\"a \"\"b\"\", c\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(CsvField, IsNoFormulaOfASpreadsheet) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("-1+cmd"), "'-1+cmd");
  EXPECT_EQ(csv_field("+a,b"), "\"'+a,b\"");
  EXPECT_EQ(csv_field("\t=1"), "\"'\t=1\"");
  EXPECT_EQ(csv_field("\r=1"), "\\x0d=1");
  EXPECT_EQ(csv_field(" =1+1"), "' =1+1");
  EXPECT_EQ(csv_field("\n=1+1"), "\"'\n=1+1\"");
  EXPECT_EQ(csv_field("\uFF1D1+1"), "'\uFF1D1+1");
  EXPECT_EQ(csv_field("a =1"), "a =1");
  for (const char* number : {"-1", "-2.5e-05", "+3", "-inf", "0"}) EXPECT_EQ(csv_field(number), number);
}

TEST(PlainName, LeadsNowhereElse) {
  for (const char* name : {"a", "20260102T030405.678Z-1a2b3c4d-9f8e", "grid_2+x"})
    EXPECT_TRUE(is_plain_name(name));
  for (const char* name : {"", ".", "..", ".a", "-a", "a/b", "a b", "a\n", "\xC3\xA9"})
    EXPECT_FALSE(is_plain_name(name)) << name;
  EXPECT_FALSE(is_plain_name(std::string(201, 'a')));
}

TEST(Spaced, TurnsANameIntoWords) {
  EXPECT_EQ(spaced("out_of_memory"), "out of memory");
  EXPECT_EQ(spaced(""), "");
}

TEST(Suggestion, IsASentenceOrNothing) {
  EXPECT_EQ(suggestion("golo", kBackends), " Did you mean 'gloo'?");
  EXPECT_EQ(suggestion("infiniband", kBackends), "");
}

}  // namespace
}  // namespace lockstep::base
