#include "lockstep/device/arithmetic_peak.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/device/arithmetic_chains.h"

namespace lockstep::device {
namespace {

// Each chain repeats x = 0.75 x + 0.25 from where it starts, so all of them end at one.
TEST(ArithmeticPeak, every_copy_does_the_whole_work) {
  for (const ArithmeticChains& chains : usable_chains()) {
    EXPECT_NEAR(chains.run_f32(1000), kChains, 1e-4) << chains.vector_bytes;
    EXPECT_NEAR(chains.run_f64(1000), kChains, 1e-9) << chains.vector_bytes;
    EXPECT_NEAR(chains.run_f64(0), 5.6, 1e-12) << chains.vector_bytes;
  }
}

TEST(ArithmeticPeak, is_a_rate_on_one_thread_and_on_several) {
  for (const int threads : {1, 3}) {
    EXPECT_GT(arithmetic_peak(threads, 4), 0);
    EXPECT_TRUE(std::isfinite(arithmetic_peak(threads, 8)));
  }
}

}  // namespace
}  // namespace lockstep::device
