#include "lockstep/predict/least_squares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::predict {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(LeastSquares, FindsTheCoefficientsThatMadeTheObservations) {
  std::vector<Observation> observations;
  for (const double n : {1.0, 2.0, 4.0, 8.0}) observations.push_back({{1, n}, 3 + 0.5 * n});
  EXPECT_THAT(fit_non_negative(observations), ElementsAre(DoubleNear(3, 1e-9), DoubleNear(0.5, 1e-9)));
}

TEST(LeastSquares, ACoefficientThatWouldBeNegativeIsZero) {
  std::vector<Observation> observations;
  for (const double n : {1.0, 2.0, 4.0}) observations.push_back({{1, n}, 10 - n});
  const std::vector<double> fitted = fit_non_negative(observations);
  EXPECT_GT(fitted[0], 0);
  EXPECT_EQ(fitted[1], 0);
}

TEST(LeastSquares, ATermThatIsAlwaysZeroGetsNoCoefficient) {
  const std::vector<Observation> observations = {{{2, 0}, 4}, {{3, 0}, 6}};
  EXPECT_THAT(fit_non_negative(observations), ElementsAre(DoubleNear(2, 1e-9), 0));
}

TEST(LeastSquares, NothingObservedGivesNothing) {
  EXPECT_TRUE(fit_non_negative({}).empty());
}

}  // namespace
}  // namespace lockstep::predict
