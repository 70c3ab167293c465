#include "lockstep/cli/setters.h"

#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep::cli {
namespace {

std::string complaint(const Setter& setter, const std::string& typed) {
  try {
    setter(typed);
  } catch (const base::UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Setters, a_whole_number_below_the_least_is_refused_with_both_numbers) {
  int value = 7;
  EXPECT_EQ(complaint(whole_number(value, 1), "0"), "0 is too small: at least 1 is needed.");
  EXPECT_EQ(value, 7);
}

TEST(Setters, a_whole_number_that_is_too_large_is_refused_with_the_largest) {
  int value = 7;
  std::optional<int> chosen;
  EXPECT_EQ(complaint(whole_number(value, 1), "100000000000"),
            "100000000000 is too large: at most 2147483647 is possible.");
  EXPECT_EQ(complaint(whole_number(value, 1), "-100000000000"),
            "-100000000000 is too small: at least 1 is needed.");
  EXPECT_EQ(complaint(port(chosen), "99999"), "99999 is too large: at most 65535 is possible.");
  EXPECT_EQ(value, 7);
  EXPECT_EQ(complaint(port(chosen), "65535"), "");
  EXPECT_EQ(chosen, 65535);
}

TEST(Setters, what_is_no_number_is_refused_by_name) {
  int whole = 0;
  double any = 0;
  EXPECT_EQ(complaint(whole_number(whole, 0), "two"), "'two' is not a whole number.");
  EXPECT_EQ(complaint(whole_number(whole, 0), "2x"), "'2x' is not a whole number.");
  EXPECT_EQ(complaint(number(any), "nan"), "'nan' is not a finite number.");
}

TEST(Setters, a_misspelt_choice_gets_a_suggestion) {
  std::string value;
  EXPECT_EQ(complaint(one_of(value, {"auto", "always", "never"}), "alwyas"),
            "'alwyas' is none of auto, always, never. Did you mean 'always'?");
}

TEST(Setters, a_choice_of_one_is_not_called_a_choice) {
  std::string value;
  EXPECT_EQ(complaint(one_of(value, {"bash"}), "zsh"), "'zsh' is unknown: there is only bash.");
}

TEST(Setters, words_add_up_and_an_empty_place_is_refused) {
  std::vector<std::string> list;
  words(list)("shm,gloo");
  words(list)("mpi");
  EXPECT_EQ(list, (std::vector<std::string>{"shm", "gloo", "mpi"}));
  EXPECT_EQ(complaint(words(list), "shm,,mpi"), "'shm,,mpi' has an empty place between commas.");
}

}  // namespace
}  // namespace lockstep::cli
