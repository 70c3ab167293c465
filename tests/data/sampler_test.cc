#include "lockstep/data/sampler.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "lockstep/base/keyed_random.h"
#include "tests/data/support.h"

namespace lockstep::data {
namespace {

SamplerOptions options(std::size_t samples, std::size_t global_batch, int world, int rank) {
  return {samples, global_batch, world, rank, 7, true};
}

// One step of all ranks, put together in the order of ranks.
std::vector<std::uint32_t> global_step(std::size_t samples, std::size_t batch, int world,
                                       SamplerPosition position) {
  std::vector<std::uint32_t> all;
  for (int rank = 0; rank < world; ++rank) {
    Sampler sampler(options(samples, batch, world, rank));
    const StepPlan plan = sampler.plan(position);
    all.insert(all.end(), plan.samples.begin(), plan.samples.end());
  }
  return all;
}

TEST(Share, covers_everything_once_and_differs_by_one_at_most) {
  for (std::size_t total = 0; total < 40; ++total) {
    for (std::size_t parts = 1; parts < 12; ++parts) {
      std::size_t next = 0;
      for (std::size_t part = 0; part < parts; ++part) {
        const Share share = share_of(total, parts, part);
        ASSERT_EQ(share.begin, next);
        ASSERT_LE(share.count, total / parts + 1);
        ASSERT_GE(share.count, total / parts);
        next += share.count;
      }
      ASSERT_EQ(next, total);
    }
  }
}

TEST(Sampler, uses_every_sample_exactly_once_an_epoch_for_any_number_of_workers) {
  for (const std::size_t samples : {1u, 2u, 7u, 48u, 100u, 101u}) {
    for (const std::size_t batch : {1u, 3u, 8u, 100u, 300u}) {
      for (const int world : {1, 2, 3, 5, 8}) {
        std::vector<int> used(samples, 0);
        const std::size_t steps = (samples + batch - 1) / batch;
        for (std::size_t step = 0; step < steps; ++step) {
          for (const std::uint32_t sample : global_step(samples, batch, world, {2, step})) ++used[sample];
        }
        ASSERT_TRUE(std::all_of(used.begin(), used.end(), [](int count) { return count == 1; }))
            << samples << " samples, batch " << batch << ", world " << world;
      }
    }
  }
}

TEST(Sampler, gives_the_same_step_to_one_worker_as_to_many) {
  for (const int world : {2, 3, 4, 7}) {
    for (std::size_t step = 0; step < 13; ++step) {
      ASSERT_EQ(global_step(100, 8, world, {1, step}), global_step(100, 8, 1, {1, step}))
          << world << " " << step;
    }
  }
}

TEST(Sampler, shuffles_anew_each_epoch_and_the_same_for_the_same_seed) {
  const auto first = shuffled_order(1000, 1, 0);
  EXPECT_EQ(first, shuffled_order(1000, 1, 0));
  EXPECT_NE(first, shuffled_order(1000, 1, 1));
  EXPECT_NE(first, shuffled_order(1000, 2, 0));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(sorted[i], i);
}

// What another engine computes from docs/data.md must come out here.
TEST(Sampler, sorts_by_the_documented_key) {
  const std::uint64_t key = base::mix_bits(base::mix_bits(base::mix_bits(1) ^ 5) ^ 3);
  const auto order = shuffled_order(50, 5, 3);
  for (std::size_t i = 1; i < order.size(); ++i) {
    ASSERT_LT(base::mix_bits(key ^ order[i - 1]), base::mix_bits(key ^ order[i]));
  }
}

TEST(Sampler, leaves_no_trace_of_the_original_order) {
  const auto order = shuffled_order(10000, 1, 0);
  double displacement = 0;
  for (std::size_t i = 0; i < order.size(); ++i) displacement += std::abs(static_cast<double>(i) - order[i]);
  EXPECT_NEAR(displacement / 10000, 3333, 100);  // a third of the length, as chance gives
}

TEST(Sampler, weighs_ranks_so_that_their_average_is_the_mean_of_all_samples) {
  for (const std::size_t samples : {9u, 10u, 17u}) {
    for (const int world : {1, 2, 3, 4, 6}) {
      Sampler any(options(samples, 8, world, 0));
      const SamplerPosition last{0, any.steps_per_epoch() - 1};
      double mean = 0;
      double expected = 0;
      for (int rank = 0; rank < world; ++rank) {
        Sampler sampler(options(samples, 8, world, rank));
        const StepPlan plan = sampler.plan(last);
        double local = 0;
        for (const std::uint32_t sample : plan.samples) local += sample;
        expected += local / static_cast<double>(plan.global_count);
        if (!plan.samples.empty())
          mean += plan.weight * local / static_cast<double>(plan.samples.size()) / world;
        EXPECT_EQ(plan.samples.empty(), plan.weight == 0);
      }
      ASSERT_NEAR(mean, expected, 1e-9) << samples << " on " << world;
    }
  }
}

TEST(Sampler, gives_some_ranks_nothing_when_the_last_batch_is_smaller_than_the_world) {
  Sampler first(options(9, 8, 4, 0));
  Sampler third(options(9, 8, 4, 2));
  EXPECT_EQ(first.plan({0, 1}).samples.size(), 1u);
  EXPECT_TRUE(third.plan({0, 1}).samples.empty());
  EXPECT_EQ(third.plan({0, 1}).global_count, 1u);
  EXPECT_TRUE(third.plan({0, 1}).last_of_epoch);
}

TEST(Sampler, has_the_steps_of_the_experiments_table) {
  EXPECT_EQ(Sampler(options(60000, 32, 2, 0)).steps_per_epoch(), 1875u);
  EXPECT_EQ(Sampler(options(60000, 64, 2, 0)).steps_per_epoch(), 938u);
  EXPECT_EQ(Sampler(options(60000, 128, 2, 0)).steps_per_epoch(), 469u);
}

TEST(Sampler, goes_on_from_any_position) {
  Sampler sampler(options(20, 8, 2, 1));
  EXPECT_EQ(sampler.after({0, 1}), (SamplerPosition{0, 2}));
  EXPECT_EQ(sampler.after({0, 2}), (SamplerPosition{1, 0}));
  const auto later = sampler.plan({4, 2}).samples;
  Sampler resumed(options(20, 8, 2, 1));
  EXPECT_EQ(resumed.plan({4, 2}).samples, later);
}

TEST(Sampler, refuses_what_cannot_be_sampled) {
  EXPECT_THROW(Sampler(options(0, 8, 1, 0)), base::ConfigError);
  EXPECT_THROW(Sampler(options(8, 0, 1, 0)), base::ConfigError);
  EXPECT_THROW(Sampler(options(8, 8, 2, 2)), base::ConfigError);
  Sampler sampler(options(20, 8, 1, 0));
  EXPECT_THROW(sampler.plan({0, 3}), base::ConfigError);
}

}  // namespace
}  // namespace lockstep::data
