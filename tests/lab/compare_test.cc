#include "lockstep/lab/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::lab {
namespace {

std::vector<record::RunRecord> repeats(const std::string& cell, const std::vector<double>& step_seconds) {
  std::vector<record::RunRecord> records;
  for (const double seconds : step_seconds) {
    record::RunRecord record;
    record.status = "finished";
    record.cell = cell;
    record.steps.seconds.emplace().median = seconds;
    record.steps.seconds->ci95 = {seconds * 0.99, seconds * 1.01};
    records.push_back(record);
  }
  return records;
}

ComparedFigure only(const std::vector<record::RunRecord>& a, const std::vector<record::RunRecord>& b) {
  return compare(a, b, {"step_seconds"}).at(0).figures.at(0);
}

TEST(Compare, a_difference_beyond_the_noise_misses_a_threshold_and_one_within_it_does_not) {
  const auto a = repeats("x", {1.00, 1.01, 0.99});
  EXPECT_TRUE(only(a, repeats("x", {1.20, 1.21, 1.19})).misses(0.05));
  EXPECT_FALSE(only(a, repeats("x", {1.20, 1.21, 1.19})).misses(0.25));
  EXPECT_FALSE(only(a, repeats("x", {0.80, 0.81, 0.79})).misses(0.05)) << "faster is not worse";
  EXPECT_FALSE(only(a, repeats("x", {0.5, 1.2, 1.9})).misses(0.05)) << "noise";
}

TEST(Compare, one_run_on_each_side_is_judged_by_its_steps) {
  const ComparedFigure figure = only(repeats("x", {1.0}), repeats("y", {1.1}));
  EXPECT_TRUE(figure.of_steps);
  EXPECT_TRUE(*figure.difference.significant());
}

TEST(Compare, one_run_on_each_side_whose_noise_nobody_knows_is_undecided) {
  const auto with_total = [](double seconds) {
    std::vector<record::RunRecord> one = repeats("x", {1.0});
    one[0].wall_seconds.total = seconds;
    return one;
  };
  const ComparedFigure figure =
      compare(with_total(10), with_total(12), {"total_seconds"}).at(0).figures.at(0);
  EXPECT_FALSE(figure.misses(0.05));
  EXPECT_TRUE(figure.undecided(0.05));
  EXPECT_FALSE(figure.undecided(0.5));
}

TEST(Compare, a_figure_that_is_not_finite_is_no_difference_within_the_noise) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (const auto& [a, b] : {std::pair(value, 1.2), std::pair(1.2, value)}) {
      const ComparedFigure figure = only(repeats("x", {1.0, a}), repeats("x", {1.1, b}));
      EXPECT_EQ(figure.difference.significant(), std::nullopt);
      EXPECT_EQ(figure.differs(), std::nullopt);
    }
}

TEST(Compare, a_figure_that_is_finite_in_A_alone_misses_every_threshold) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const ComparedFigure lost = only(repeats("x", {1.0, 1.2}), repeats("x", {1.1, value}));
    EXPECT_TRUE(lost.misses(0.05));
    EXPECT_TRUE(lost.misses(100));
    EXPECT_FALSE(lost.undecided(0.05)) << "it is held against B";
    EXPECT_FALSE(only(repeats("x", {1.0, value}), repeats("x", {1.1, 1.2})).misses(0.05)) << "B is better";
    EXPECT_FALSE(only(repeats("x", {1.0, value}), repeats("x", {1.1, value})).misses(0.05)) << "no worse";
  }
}

TEST(Compare, bytes_have_no_noise) {
  const auto with_peak = [](std::uint64_t bytes) {
    std::vector<record::RunRecord> one = repeats("x", {1.0});
    one[0].memory.emplace().peak_bytes = bytes;
    return one;
  };
  const ComparedFigure more = compare(with_peak(100), with_peak(120), {"peak_bytes"}).at(0).figures.at(0);
  EXPECT_TRUE(more.misses(0.05));
  EXPECT_EQ(more.differs(), true);
  EXPECT_EQ(compare(with_peak(100), with_peak(100), {"peak_bytes"}).at(0).figures.at(0).differs(), false);
}

TEST(Compare, an_interval_ends_where_nothing_would_be_left) {
  const ComparedFigure figure = only(repeats("x", {1.0, 1.1}), repeats("x", {0.5, 1.2}));
  EXPECT_DOUBLE_EQ(figure.difference.interval->low, -1.05);
  EXPECT_GT(figure.difference.interval->high, 1.0);
}

std::vector<record::RunRecord> with_spec(const nlohmann::json& spec) {
  std::vector<record::RunRecord> records = repeats("x", {1, 1});
  for (record::RunRecord& record : records) record.spec = spec;
  return records;
}

TEST(Compare, fields_that_differ_between_the_sides_are_named) {
  const auto cells = compare(with_spec({{"data", "mnist"}, {"epochs", 1}, {"model", "vit"}}),
                             with_spec({{"data", "digits"}, {"epochs", 2}, {"model", "vit"}}), {});
  EXPECT_EQ(cells.at(0).differing,
            (std::vector<DifferingField>{{"data", "mnist", "digits"}, {"epochs", "1", "2"}}));
}

TEST(Compare, seeds_that_the_sides_share_and_places_to_write_to_do_not_differ) {
  auto a = with_spec({{"seed", 1}, {"trace", "a.json"}}), b = with_spec({{"seed", 1}, {"trace", "b.json"}});
  a[1].spec["seed"] = 2;
  EXPECT_TRUE(compare(a, b, {}).at(0).differing.empty());
}

TEST(Compare, cells_without_a_partner_are_said) {
  std::vector<record::RunRecord> a = repeats("x", {1, 1}), b = repeats("x", {1, 1});
  for (const auto& record : repeats("only a", {1})) a.push_back(record);
  const auto cells = compare(a, b, {});
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].only_in, "A");
}

}  // namespace
}  // namespace lockstep::lab
