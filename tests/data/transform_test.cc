#include "lockstep/data/transform.h"

#include <cmath>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

std::vector<float> input_of(const SampleSet& set, const TransformOptions& options, std::uint32_t sample,
                            std::uint64_t epoch = 0) {
  const Transform transform(set, options);
  std::vector<float> input(options.input.elements());
  std::vector<float> target(options.input.elements());
  std::int64_t label = 0;
  Transform::Scratch scratch;
  transform.write(set, sample, epoch, {input.data(), &label, target.data()}, scratch);
  return input;
}

TEST(Transform, normalises_by_channel) {
  const SampleSet set = numbered_set(3, {3, 4, 4});
  TransformOptions options;
  options.input = {3, 4, 4};
  options.mean = {0.1f, 0.2f, 0.3f};
  options.deviation = {0.5f, 0.25f, 2.0f};
  const auto input = input_of(set, options, 2);
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::size_t channel = i / 16;
    const float expected = (static_cast<float>(set.image_of(2).pixels[i]) / 255 - options.mean[channel]) /
                           options.deviation[channel];
    ASSERT_NEAR(input[i], expected, 1e-5) << i;
  }
}

TEST(Transform, makes_three_channels_of_grey) {
  const SampleSet set = numbered_set(1, {1, 8, 8});
  TransformOptions options;
  options.input = {3, 8, 8};
  const auto input = input_of(set, options, 0);
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_EQ(input[i], input[64 + i]);
    ASSERT_EQ(input[i], input[128 + i]);
  }
}

TEST(Transform, refuses_colour_for_a_model_of_one_channel) {
  const SampleSet set = numbered_set(1, {3, 8, 8});
  TransformOptions options;
  options.input = {1, 8, 8};
  EXPECT_THAT(data_complaint([&] { Transform(set, options); }),
              ::testing::HasSubstr("has 3 channels, and the model takes 1"));
}

TEST(Transform, resizes_to_the_models_input) {
  const SampleSet set = numbered_set(2, {1, 28, 28});
  TransformOptions options;
  options.input = {3, 64, 64};
  const Image image{set.image_of(1).shape, Bytes(set.image_of(1).pixels, set.image_of(1).pixels + 784)};
  const Image expected = resized(image, 64, 64);
  const auto input = input_of(set, options, 1);
  for (std::size_t i = 0; i < 64 * 64; ++i) ASSERT_NEAR(input[i] * 255, expected.pixels[i], 0.51);
}

// Every crop and flip must be a window of the image with black around it.
TEST(Transform, shifts_by_up_to_an_eighth_and_mirrors_half) {
  const SampleSet set = numbered_set(200, {1, 16, 16});
  TransformOptions options;
  options.input = {1, 16, 16};
  options.crop = options.flip = true;
  int mirrored = 0;
  for (std::uint32_t sample = 0; sample < 200; ++sample) {
    const auto input = input_of(set, options, sample);
    const std::uint8_t* pixels = set.image_of(sample).pixels;
    const auto matches = [&](int down, int right, bool flip) {
      for (int y = 0; y < 16; ++y) {
        for (int x = 0; x < 16; ++x) {
          const int from_y = y + down;
          const int from_x = (flip ? 15 - x : x) + right;
          const bool inside = from_y >= 0 && from_y < 16 && from_x >= 0 && from_x < 16;
          const float expected = inside ? static_cast<float>(pixels[from_y * 16 + from_x]) / 255 : 0;
          if (std::abs(input[static_cast<std::size_t>(y * 16 + x)] - expected) > 1e-5) return false;
        }
      }
      return true;
    };
    bool found = false;
    for (int down = -2; down <= 2; ++down) {
      for (int right = -2; right <= 2; ++right) {
        for (const bool flip : {false, true}) {
          if (!matches(down, right, flip)) continue;
          found = true;
          mirrored += flip;
        }
      }
    }
    ASSERT_TRUE(found) << sample;
  }
  EXPECT_NEAR(mirrored, 100, 30);
}

TEST(Transform, draws_anew_each_epoch_and_the_same_for_the_same_key) {
  const SampleSet set = numbered_set(50, {1, 16, 16});
  TransformOptions options;
  options.input = {1, 16, 16};
  options.crop = options.flip = true;
  int changed = 0;
  for (std::uint32_t sample = 0; sample < 50; ++sample) {
    EXPECT_EQ(input_of(set, options, sample, 3), input_of(set, options, sample, 3));
    changed += input_of(set, options, sample, 3) != input_of(set, options, sample, 4);
  }
  EXPECT_GT(changed, 40);
}

TEST(Transform, changes_the_sign_of_the_angle_of_a_mirrored_frame) {
  SampleSet set = numbered_set(20, {1, 4, 4});
  set.task = record::Task::steering;
  set.labels.clear();
  set.values.assign(20, 0.5f);
  TransformOptions options;
  options.input = {1, 4, 4};
  options.flip = true;
  const Transform transform(set, options);
  Transform::Scratch scratch;
  int negative = 0;
  for (std::uint32_t sample = 0; sample < 20; ++sample) {
    std::vector<float> input(16);
    float angle = 0;
    transform.write(set, sample, 0, {input.data(), nullptr, &angle}, scratch);
    const bool mirrored = std::abs(input[0] * 255 - set.image_of(sample).pixels[3]) < 0.01;
    EXPECT_EQ(angle, mirrored ? -0.5f : 0.5f) << sample;
    negative += angle < 0;
  }
  EXPECT_GT(negative, 3);
  EXPECT_LT(negative, 17);
}

TEST(Transform, adds_the_asked_noise_to_a_clean_patch) {
  const auto set = load_set({"texture", Split::train, {}, {3, 32, 32}, 1, 4});
  TransformOptions options;
  options.input = {3, 32, 32};
  options.noise_sigma = 25.0f / 255;
  options.jitter = options.flip = true;
  const Transform transform(*set, options);
  Transform::Scratch scratch;
  std::vector<float> noisy(3 * 32 * 32), clean(3 * 32 * 32);
  transform.write(*set, 1, 0, {noisy.data(), nullptr, clean.data()}, scratch);
  double squares = 0;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    squares += std::pow(noisy[i] - clean[i], 2);
    ASSERT_GE(clean[i], 0);
    ASSERT_LE(clean[i], 1);
  }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(noisy.size())) * 255, 25, 1);
}

TEST(Transform, cuts_patches_on_the_grid_when_nothing_is_random) {
  const auto set = load_set({"texture", Split::validation, {}, {3, 32, 32}, 1, 4});
  TransformOptions options;
  options.input = {3, 32, 32};
  const Transform transform(*set, options);
  Transform::Scratch scratch;
  std::vector<float> input(3 * 32 * 32), clean(3 * 32 * 32);
  transform.write(*set, 3, 0, {input.data(), nullptr, clean.data()}, scratch);
  EXPECT_NEAR(clean[0] * 255, set->image_of(3).pixels[32 * 64 + 32], 1e-3);
  EXPECT_EQ(input, clean);
}

}  // namespace
}  // namespace lockstep::data
