// Tests of order statistics against values worked out by hand or from tables of the binomial distribution.
#include "lockstep/base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace lockstep::base {
namespace {

// 1, 2, ... n, largest first, so that a function that forgets to sort is found out.
std::vector<double> descending(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  return samples;
}

TEST(Quantile, OfOneSampleIsThatSample) {
  const std::vector<double> one = {7.0};
  for (const double q : {0.0, 0.05, 0.5, 1.0}) EXPECT_EQ(quantile(one, q), 7.0);
}

TEST(Quantile, ReachesFromTheLeastToTheGreatest) {
  const auto samples = descending(9);
  EXPECT_EQ(quantile(samples, 0.0), 1.0);
  EXPECT_EQ(quantile(samples, 1.0), 9.0);
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(quantile(descending(5), 0.25), 2.0);
  EXPECT_DOUBLE_EQ(quantile(descending(2), 0.99), 1.99);
}

TEST(Quantile, TakesWhatIsNoNumberForTheLargestWhereverItStands) {
  const double nan = std::nan("");
  for (const std::vector<double>& samples :
       {std::vector{nan, 3.0, 1.0, 2.0, 4.0}, std::vector{3.0, 1.0, nan, 2.0, 4.0},
        std::vector{3.0, 1.0, 2.0, 4.0, nan}}) {
    EXPECT_EQ(median(samples), 3.0);
    EXPECT_EQ(quantile(samples, 0.0), 1.0);
    EXPECT_TRUE(std::isnan(quantile(samples, 1.0)));
  }
}

TEST(Median, OfAnOddCountIsTheMiddleAndOfAnEvenCountTheMeanOfTheTwo) {
  EXPECT_EQ(median(descending(5)), 3.0);
  EXPECT_EQ(median(descending(6)), 3.5);
}

TEST(Mean, IsTheArithmeticOne) {
  EXPECT_DOUBLE_EQ(mean(descending(4)), 2.5);
}

TEST(CoefficientOfVariation, UsesTheSampleDeviation) {
  const std::vector<double> samples = {2, 4, 4, 4, 5, 5, 7, 9};  // mean 5, sum of squares 32
  EXPECT_NEAR(coefficient_of_variation(samples), std::sqrt(32.0 / 7.0) / 5.0, 1e-12);
}

TEST(CoefficientOfVariation, IsZeroWhereItMeansNothing) {
  EXPECT_EQ(coefficient_of_variation(std::vector<double>{3.0}), 0.0);
  EXPECT_EQ(coefficient_of_variation(std::vector<double>{-1.0, 1.0}), 0.0);
  EXPECT_EQ(coefficient_of_variation(std::vector<double>{4.0, 4.0}), 0.0);
}

TEST(MedianInterval, OfFewerThanSixSamplesDoesNotExist) {
  for (int samples = 1; samples < 6; ++samples) EXPECT_FALSE(median_interval_95(descending(samples)));
}

struct KnownRank {
  int samples;
  int lower;  // the rank of the lower bound in published tables of the sign test
};

class MedianIntervalRanks : public ::testing::TestWithParam<KnownRank> {};

TEST_P(MedianIntervalRanks, AreThoseOfTheTablesAndSymmetric) {
  const auto [samples, lower] = GetParam();
  const std::optional<Interval> interval = median_interval_95(descending(samples));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, lower);
  EXPECT_EQ(interval->high, samples + 1 - lower);
}

INSTANTIATE_TEST_SUITE_P(Tables, MedianIntervalRanks,
                         ::testing::Values(KnownRank{6, 1}, KnownRank{8, 1}, KnownRank{9, 2},
                                           KnownRank{10, 2}, KnownRank{20, 6}, KnownRank{50, 18},
                                           KnownRank{100, 40}));

TEST(MedianInterval, OfManySamplesContinuesThatOfFewer) {
  const Interval exact = median_interval_95(descending(500)).value();
  const Interval normal = median_interval_95(descending(501)).value();
  EXPECT_NEAR(exact.low, normal.low, 2.0);
  EXPECT_NEAR(exact.high, normal.high, 2.0);
}

}  // namespace
}  // namespace lockstep::base
