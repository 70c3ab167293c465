#include "lockstep/cli/truth_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> told(const std::vector<std::string>& arguments) {
  return with_truth_values(arguments, {Flag{.names = "--measure", .value = "BOOL", .truth = true},
                                       Flag{.names = "--model", .value = "TEXT"}});
}

TEST(TruthWords, a_bare_flag_is_true_and_its_denial_false) {
  EXPECT_THAT(told({"train", "--measure"}), ElementsAre("train", "--measure=true"));
  EXPECT_THAT(told({"--no-measure", "run.yaml"}), ElementsAre("--measure=false", "run.yaml"));
}

TEST(TruthWords, a_word_after_the_flag_is_its_value_unless_it_is_a_flag_or_a_file) {
  EXPECT_THAT(told({"--measure", "off"}), ElementsAre("--measure=off"));
  EXPECT_THAT(told({"--measure", "run.yaml"}), ElementsAre("--measure=true", "run.yaml"));
  EXPECT_THAT(told({"--measure", "maybe"}), ElementsAre("--measure=maybe"));
  EXPECT_THAT(told({"--measure", "--model", "x"}), ElementsAre("--measure=true", "--model", "x"));
  EXPECT_THAT(told({"--model", "no"}), ElementsAre("--model", "no"));
}

TEST(TruthWords, what_follows_two_dashes_stays) {
  EXPECT_THAT(told({"--", "--measure"}), ElementsAre("--", "--measure"));
}

}  // namespace
}  // namespace lockstep::cli
