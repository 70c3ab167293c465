#include "lockstep/cli/fit/batch_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/cli/fit/answer.h"
#include "lockstep/cli/fit/fit_report.h"

namespace lockstep::cli {
namespace {

constexpr std::uint64_t kCap = 100000;

// A trial whose peak is a function of the batch.
template <class Peak>
SearchResult search(const Peak& peak, std::int64_t largest = 4096) {
  return largest_batch({1, largest, kCap}, [&](std::int64_t batch) {
    const auto bytes = static_cast<std::uint64_t>(peak(batch));
    return BatchTrial{batch, bytes <= kCap, bytes <= kCap ? bytes : 0, 0.5};
  });
}

TEST(BatchSearch, FindsTheLargestInFourTrialsWhereMemoryGrowsEvenly) {
  for (const std::int64_t each : {37, 250, 999, 4000}) {
    const SearchResult found = search([&](std::int64_t batch) { return 1234 + each * batch; });
    EXPECT_EQ(found.best->batch, (static_cast<std::int64_t>(kCap) - 1234) / each);
    EXPECT_LE(found.trials.size(), 4u) << each;
    EXPECT_FALSE(found.at_limit);
  }
}

TEST(BatchSearch, FindsTheLargestWhereMemoryGrowsInSteps) {
  const auto peak = [](std::int64_t batch) { return 500 + 3000 * ((batch + 6) / 7); };
  const SearchResult found = search(peak);
  EXPECT_LE(peak(found.best->batch), static_cast<std::int64_t>(kCap));
  EXPECT_GT(peak(found.best->batch + 1), static_cast<std::int64_t>(kCap));
  EXPECT_LE(found.trials.size(), 14u);
}

TEST(BatchSearch, FindsTheLargestWhereTheLineLeadsAstray) {
  const auto peak = [](std::int64_t batch) { return static_cast<std::int64_t>(std::pow(batch, 1.5)); };
  const SearchResult found = search(peak);
  EXPECT_GT(peak(found.best->batch + 1), static_cast<std::int64_t>(kCap));
  EXPECT_LE(peak(found.best->batch), static_cast<std::int64_t>(kCap));
}

TEST(BatchSearch, SaysWhenNothingFitsAndWhenTheLimitDoes) {
  const SearchResult none = search([](std::int64_t) { return 200000; });
  EXPECT_FALSE(none.best);
  EXPECT_EQ(none.trials.size(), 1u);
  const SearchResult limit = search([](std::int64_t batch) { return 10 + batch; }, 64);
  EXPECT_EQ(limit.best->batch, 64);
  EXPECT_TRUE(limit.at_limit);
}

TEST(Answers, AreChosenByNameAndRefusedBySuggestion) {
  EXPECT_EQ(chosen_answers({}, 3).size(), answer_names().size());
  const std::vector<Answer> chosen = chosen_answers({"zero3", "single"}, 3);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].name, "single");
  EXPECT_EQ(chosen[1].workers, 3);
  EXPECT_THROW(chosen_answers({"zero4"}, 2), base::UsageError);
}

TEST(Advice, NamesTheBestOfOneWorkerAndOfSeveral) {
  const std::vector<Answer> answers = chosen_answers({"single", "single+recompute", "ddp"}, 2);
  const auto with = [](std::int64_t batch) {
    return SearchResult{BatchTrial{batch, true, 1, 0.1}, false, {}};
  };
  const std::string text =
      advice({{answers[0], with(8), ""}, {answers[1], with(12), ""}, {answers[2], with(7), ""}});
  EXPECT_NE(text.find("single+recompute takes a batch of 12"), std::string::npos) << text;
  EXPECT_NE(text.find("ddp takes a batch of 14 (7 per worker"), std::string::npos) << text;
  EXPECT_NE(advice({{answers[0], {}, ""}}).find("Nothing fits"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::cli
