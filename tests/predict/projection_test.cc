#include "lockstep/predict/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::predict {
namespace {

using ::testing::ElementsAre;

constexpr double kPayload = 4e6, kAlpha = 2e-5, kSecondsPerByte = 1e-9;

// Points that the model describes exactly.
ScalingPoint made(int workers, Scaling scaling) {
  ScalingPoint point;
  point.workers = workers;
  point.payload_bytes = kPayload;
  point.alone_seconds = scaling == Scaling::weak ? 0.05 + 0.001 * (workers - 1) : 0.01 + 0.08 / workers;
  if (workers > 1)
    point.exposed_seconds =
        2 * (workers - 1) * kAlpha + 2.0 * (workers - 1) / workers * kPayload * kSecondsPerByte;
  return point;
}

std::vector<ScalingPoint> made(std::initializer_list<int> counts, Scaling scaling) {
  std::vector<ScalingPoint> points;
  for (const int workers : counts) points.push_back(made(workers, scaling));
  return points;
}

TEST(Projection, PredictsWhatTheModelMade) {
  for (const Scaling scaling : {Scaling::weak, Scaling::strong}) {
    const auto projection = project(made({1, 2, 4, 8}, scaling), scaling);
    ASSERT_TRUE(projection);
    EXPECT_THAT(projection->fitted, ElementsAre(1, 2, 4));
    EXPECT_EQ(projection->largest.workers, 8);
    EXPECT_NEAR(projection->relative_error, 0, 1e-6);
    EXPECT_EQ(projection->twice.workers, 16);
    EXPECT_NEAR(projection->twice.step_seconds, made(16, scaling).step_seconds(), 1e-6);
  }
}

TEST(Projection, NeedsThreeWorkerCounts) {
  EXPECT_FALSE(project(made({1, 2}, Scaling::weak), Scaling::weak));
  EXPECT_TRUE(project(made({1, 2, 4}, Scaling::weak), Scaling::weak));
}

TEST(Projection, KeepsOversubscribedRunsOut) {
  std::vector<ScalingPoint> points = made({1, 2, 4, 8}, Scaling::weak);
  points.back().oversubscribed = true;
  points.back().alone_seconds = 10;
  const auto projection = project(points, Scaling::weak);
  ASSERT_TRUE(projection);
  EXPECT_EQ(projection->largest.workers, 4);
  points[2].oversubscribed = true;
  EXPECT_FALSE(project(points, Scaling::weak));
}

TEST(Projection, TheErrorAtTheLeftOutCountWidensTheIntervalOfWhatFollows) {
  std::vector<ScalingPoint> points = made({1, 2, 4, 8}, Scaling::weak);
  points.back().alone_seconds *= 1.5;
  const auto projection = project(points, Scaling::weak);
  ASSERT_TRUE(projection);
  EXPECT_LT(projection->relative_error, -0.2);
  EXPECT_GT(projection->twice.high_seconds / projection->twice.step_seconds, 1.2);
  EXPECT_LT(projection->twice.low_seconds, projection->twice.step_seconds);
}

TEST(Projection, TheNoiseOfTheMeasurementsIsTheLeastInterval) {
  std::vector<ScalingPoint> points = made({1, 2, 4, 8}, Scaling::strong);
  for (ScalingPoint& point : points) point.relative_noise = 0.1;
  const auto projection = project(points, Scaling::strong);
  ASSERT_TRUE(projection);
  EXPECT_NEAR(projection->largest.high_seconds / projection->largest.step_seconds, 1.1, 1e-6);
}

// All counts lie on the model but one worker's step, which takes half as long again.
std::vector<ScalingPoint> with_odd_one(std::initializer_list<int> counts, Scaling scaling) {
  std::vector<ScalingPoint> points = made(counts, scaling);
  points.front().alone_seconds *= 1.5;
  return points;
}

double residual_of_one(const StepModel& model, const std::vector<ScalingPoint>& points) {
  return std::abs(model.step_seconds(1) / points.front().step_seconds() - 1);
}

TEST(Projection, TheResidualOfOneWorkerCountsWhereItWasFitted) {
  for (const Scaling scaling : {Scaling::weak, Scaling::strong}) {
    const std::vector<ScalingPoint> points = with_odd_one({1, 2, 4, 8}, scaling);
    const auto projection = project(points, scaling);
    ASSERT_TRUE(projection);
    EXPECT_GE(projection->largest.high_seconds / projection->largest.step_seconds - 1,
              residual_of_one(projection->model, points) - 1e-9);
  }
}

TEST(Projection, OneWorkerThatTheFitLeavesOutWidensNothing) {
  const std::vector<ScalingPoint> points = with_odd_one({1, 2, 4}, Scaling::weak);
  const auto projection = project(points, Scaling::weak);
  ASSERT_TRUE(projection);
  EXPECT_GT(residual_of_one(projection->model, points), 0.2);
  EXPECT_NEAR(projection->largest.high_seconds, projection->largest.step_seconds, 1e-9);
}

TEST(Projection, OneWorkerHasNoExposedCommunication) {
  const auto model = fit_step(made({1, 2, 4}, Scaling::weak), Scaling::weak);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->exposed_seconds(1), 0);
  EXPECT_GT(model->exposed_seconds(2), 0);
}

}  // namespace
}  // namespace lockstep::predict
