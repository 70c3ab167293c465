#include "lockstep/data/loader.h"

#include <cstring>
#include <map>
#include <thread>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

TransformOptions augmented(ImageShape shape) {
  TransformOptions options;
  options.input = shape;
  options.crop = options.flip = true;
  options.seed = 11;
  return options;
}

class LoaderTest : public ::testing::Test {
 protected:
  static constexpr ImageShape kShape{3, 8, 8};
  std::shared_ptr<const SampleSet> set = std::make_shared<SampleSet>(numbered_set(50, kShape));

  std::unique_ptr<Loader> loader(int world, int rank, int threads, std::uint64_t epochs,
                                 std::size_t batch = 12) {
    LoaderOptions options;
    options.threads = threads;
    options.prefetch = 3;
    options.epochs = epochs;
    return std::make_unique<Loader>(set, augmented(kShape), SamplerOptions{50, batch, world, rank, 5, true},
                                    options);
  }

  struct Seen {
    std::vector<float> inputs;
    std::vector<std::int64_t> labels;
    bool operator==(const Seen&) const = default;
  };
  static void append(Seen& seen, const Batch& batch) {
    seen.inputs.insert(seen.inputs.end(), batch.memory->inputs.begin(), batch.memory->inputs.end());
    seen.labels.insert(seen.labels.end(), batch.memory->labels.begin(), batch.memory->labels.end());
  }
};

TEST_F(LoaderTest, gives_batches_in_order_from_epoch_to_epoch_and_then_nothing) {
  for (const int threads : {0, 1, 3}) {
    const auto batches = loader(1, 0, threads, 2);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      for (std::size_t step = 0; step < 5; ++step) {
        EXPECT_EQ(batches->position(), (SamplerPosition{epoch, step}));
        const auto batch = batches->next();
        ASSERT_TRUE(batch.has_value());
        EXPECT_EQ(batch->plan.position, (SamplerPosition{epoch, step}));
        EXPECT_EQ(batch->count(), step == 4 ? 2u : 12u);
        EXPECT_EQ(batch->plan.last_of_epoch, step == 4);
      }
    }
    EXPECT_FALSE(batches->next().has_value());
  }
}

TEST_F(LoaderTest, gives_the_same_bytes_whatever_the_threads) {
  const auto none = loader(1, 0, 0, 2);
  const auto many = loader(1, 0, 4, 2);
  for (int step = 0; step < 10; ++step) {
    Seen one, other;
    append(one, *none->next());
    append(other, *many->next());
    ASSERT_EQ(one, other) << step;
  }
}

TEST_F(LoaderTest, gives_the_same_samples_and_augmentation_whatever_the_workers) {
  for (const int world : {2, 3, 5}) {
    const auto alone = loader(1, 0, 0, 2);
    std::vector<std::unique_ptr<Loader>> ranks;
    for (int rank = 0; rank < world; ++rank) ranks.push_back(loader(world, rank, 1, 2));
    for (int step = 0; step < 10; ++step) {
      Seen one, all;
      append(one, *alone->next());
      for (auto& rank : ranks) append(all, *rank->next());
      ASSERT_EQ(one, all) << world << " workers, step " << step;
    }
  }
}

TEST_F(LoaderTest, represents_a_rank_without_samples) {
  const auto last = loader(5, 4, 1, 1);
  for (int step = 0; step < 4; ++step) ASSERT_GT(last->next()->count(), 0u);
  const auto batch = last->next();
  EXPECT_EQ(batch->count(), 0u);
  EXPECT_EQ(batch->plan.weight, 0);
  EXPECT_EQ(batch->plan.global_count, 2u);
  EXPECT_TRUE(batch->memory->inputs.empty());
}

TEST_F(LoaderTest, goes_on_from_a_sought_position_as_if_it_had_never_stopped) {
  const auto straight = loader(2, 1, 2, 3);
  for (int step = 0; step < 7; ++step) straight->next();
  const auto resumed = loader(2, 1, 2, 3);
  resumed->next();
  resumed->seek(straight->position());
  for (int step = 7; step < 15; ++step) {
    Seen one, other;
    append(one, *straight->next());
    append(other, *resumed->next());
    ASSERT_EQ(one, other) << step;
  }
  EXPECT_FALSE(resumed->next().has_value());
}

TEST_F(LoaderTest, keeps_a_batchs_memory_while_somebody_holds_it_and_uses_it_again_afterwards) {
  const auto batches = loader(1, 0, 1, 1000);
  const auto held = batches->next();
  const Floats copy = held->memory->inputs;
  std::map<const float*, int> addresses;
  for (int step = 0; step < 200; ++step) ++addresses[batches->next()->memory->inputs.data()];
  EXPECT_EQ(held->memory->inputs, copy);
  EXPECT_LE(addresses.size(), 8u);
  EXPECT_EQ(addresses.count(held->memory->inputs.data()), 0u);
}

TEST_F(LoaderTest, outlives_nothing_it_gave_away) {
  std::optional<Batch> kept;
  {
    const auto batches = loader(1, 0, 2, 1000);
    kept = batches->next();
  }
  EXPECT_EQ(kept->memory->inputs.size(), 12 * kShape.elements());
}

TEST_F(LoaderTest, ends_cleanly_in_the_middle_of_its_work) {
  for (int i = 0; i < 50; ++i) loader(1, 0, 3, 1000)->next();
}

TEST_F(LoaderTest, measures_the_time_spent_waiting) {
  const auto batches = loader(1, 0, 0, 1);
  EXPECT_EQ(batches->waited(), base::Nanoseconds(0));
  batches->next();
  EXPECT_GT(batches->waited(), base::Nanoseconds(0));
}

TEST_F(LoaderTest, hands_on_the_trouble_of_a_preparing_thread) {
  auto broken = std::make_shared<SampleSet>(numbered_set(50, kShape));
  const auto batches = std::make_unique<Loader>(broken, augmented(kShape),
                                                SamplerOptions{50, 12, 1, 0, 5, true}, LoaderOptions{});
  batches->next();
  EXPECT_THROW(
      {
        batches->seek({0, 99});
        batches->next();
      },
      base::ConfigError);
}

TEST_F(LoaderTest, draws_validation_noise_once_and_for_all) {
  const auto photos = load_set({"texture", Split::validation, {}, {3, 16, 16}, 1, 8});
  TransformOptions transform;
  transform.input = {3, 16, 16};
  transform.noise_sigma = 0.1f;
  LoaderOptions options;
  options.fresh_each_epoch = false;
  Loader batches(photos, transform, {8, 8, 1, 0, 5, false}, options);
  const Floats first = batches.next()->memory->inputs;
  EXPECT_EQ(batches.next()->memory->inputs, first);
}

}  // namespace
}  // namespace lockstep::data
