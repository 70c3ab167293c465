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

TEST(Setters, words_add_up_and_an_empty_place_is_refused) {
  std::vector<std::string> list;
  words(list)("shm,gloo");
  words(list)("mpi");
  EXPECT_EQ(list, (std::vector<std::string>{"shm", "gloo", "mpi"}));
  EXPECT_EQ(complaint(words(list), "shm,,mpi"), "'shm,,mpi' has an empty place between commas.");
}

}  // namespace
}  // namespace lockstep::cli
