// Tests of the utilisation sampler: a busy process differs from an idle one, and the cores given count.
#include "lockstep/measure/utilisation.h"

#include <gtest/gtest.h>

#include <ctime>

#include "lockstep/base/error.h"

namespace lockstep::measure {
namespace {

using std::chrono::milliseconds;

base::Nanoseconds cpu_time_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + base::Nanoseconds(time.tv_nsec);
}

// Computes for so much CPU time, however long a crowded machine takes for it.
void work(base::Nanoseconds cpu_time) {
  const auto begin = cpu_time_of_this_thread();
  while (cpu_time_of_this_thread() - begin < cpu_time) {
  }
}

struct Measured {
  double percent;
  double own_percent;  // the same by this thread's own clocks, start and stop included
  std::vector<UtilisationSample> samples;
};

template <class Body>
Measured measured(double cores, const Body& body) {
  UtilisationSampler sampler({.cores = cores, .interval = milliseconds(20)});
  const auto wall = base::now();
  const auto cpu = cpu_time_of_this_thread();
  sampler.start();
  body();
  sampler.stop();
  const double own =
      100 * base::to_seconds(cpu_time_of_this_thread() - cpu) / base::to_seconds(base::now() - wall);
  return {sampler.mean_percent(), own, sampler.samples()};
}

TEST(UtilisationSampler, SeesTheCpuTimeOfTheProcess) {
  const Measured busy = measured(1, [] { work(milliseconds(100)); });
  EXPECT_NEAR(busy.percent, busy.own_percent, 10);
  EXPECT_GE(busy.samples.size(), 2u);
}

TEST(UtilisationSampler, AnIdleProcessUsesNothing) {
  const Measured idle = measured(1, [] { std::this_thread::sleep_for(milliseconds(200)); });
  EXPECT_LT(idle.percent, 10);
}

TEST(UtilisationSampler, DividesByTheCoresGiven) {
  const Measured busy = measured(4, [] { work(milliseconds(100)); });
  EXPECT_NEAR(busy.percent, busy.own_percent / 4, 5);
}

TEST(UtilisationSampler, SamplesComeInTheOrderOfTime) {
  const Measured measured_once = measured(1, [] { std::this_thread::sleep_for(milliseconds(100)); });
  for (std::size_t i = 1; i < measured_once.samples.size(); ++i)
    EXPECT_GT(measured_once.samples[i].time, measured_once.samples[i - 1].time);
}

TEST(UtilisationSampler, ARunShorterThanTheIntervalHasOneSample) {
  UtilisationSampler sampler({.cores = 1, .interval = std::chrono::hours(1)});
  sampler.start();
  work(milliseconds(5));
  sampler.stop();
  sampler.stop();
  EXPECT_EQ(sampler.samples().size(), 1u);
}

TEST(UtilisationSampler, AStartBeginsAnew) {
  UtilisationSampler sampler({.cores = 1, .interval = std::chrono::hours(1)});
  for (int i = 0; i < 2; ++i) {
    sampler.start();
    sampler.stop();
  }
  EXPECT_EQ(sampler.samples().size(), 1u);
}

TEST(UtilisationSampler, RefusesNoCoresAndNoInterval) {
  EXPECT_THROW(UtilisationSampler({.cores = 0}), base::ConfigError);
  EXPECT_THROW(UtilisationSampler({.cores = 1, .interval = base::Nanoseconds(0)}), base::ConfigError);
}

TEST(UtilisationSampler, AsksTheDeviceWhereThereIsOne) {
  UtilisationOptions options{.cores = 1, .interval = std::chrono::hours(1)};
  options.read_device = [] { return DeviceReading{75, 310.5, std::nullopt}; };
  UtilisationSampler sampler(options);
  sampler.start();
  sampler.stop();
  ASSERT_EQ(sampler.samples().size(), 1U);
  EXPECT_EQ(sampler.samples().front().percent, 75);
  EXPECT_EQ(sampler.samples().front().watts, 310.5);
  EXPECT_FALSE(sampler.samples().front().megahertz);
}

}  // namespace
}  // namespace lockstep::measure
