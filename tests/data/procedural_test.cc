// Tests of the sets that are drawn: the same for the same seed, and learnable.
#include <map>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

std::shared_ptr<const SampleSet> draw(const std::string& name, Split split, std::size_t samples,
                                      std::uint64_t seed = 1) {
  return load_set({name, split, {}, {}, seed, samples});
}

Bytes pixels_of(const SampleSet& set, std::size_t sample) {
  const ImageView image = set.image_of(sample);
  return Bytes(image.pixels, image.pixels + image.shape.elements());
}

class Procedural : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Sets, Procedural, ::testing::Values("digits", "road", "texture"));

TEST_P(Procedural, is_the_same_for_the_same_seed_and_another_for_another) {
  const auto one = draw(GetParam(), Split::train, 8);
  EXPECT_EQ(one->size(), 8u);
  EXPECT_EQ(pixels_of(*one, 7), pixels_of(*draw(GetParam(), Split::train, 8), 7));
  EXPECT_NE(pixels_of(*one, 7), pixels_of(*draw(GetParam(), Split::train, 8, 2), 7));
  EXPECT_NE(pixels_of(*one, 7), pixels_of(*draw(GetParam(), Split::validation, 8), 7));
}

TEST_P(Procedural, draws_a_sample_the_same_however_many_are_asked_for) {
  EXPECT_EQ(pixels_of(*draw(GetParam(), Split::train, 4), 3),
            pixels_of(*draw(GetParam(), Split::train, 40), 3));
}

// Learnable means here: the nearest class mean of the training images names most validation digits.
TEST(Digits, can_be_told_apart_by_their_class_means) {
  const auto train = draw("digits", Split::train, 3000);
  const auto validation = draw("digits", Split::validation, 500);
  std::vector<std::vector<double>> means(10, std::vector<double>(784));
  std::vector<double> counts(10);
  for (std::size_t i = 0; i < train->size(); ++i) {
    const auto label = static_cast<std::size_t>(train->labels[i]);
    ++counts[label];
    for (std::size_t p = 0; p < 784; ++p) means[label][p] += train->image_of(i).pixels[p];
  }
  const auto distance = [&](std::size_t sample, std::size_t label) {
    double sum = 0;
    for (std::size_t p = 0; p < 784; ++p) {
      const double difference = validation->image_of(sample).pixels[p] - means[label][p] / counts[label];
      sum += difference * difference;
    }
    return sum;
  };
  int right = 0;
  for (std::size_t i = 0; i < validation->size(); ++i) {
    std::size_t best = 0;
    for (std::size_t label = 1; label < 10; ++label)
      best = distance(i, label) < distance(i, best) ? label : best;
    right += validation->labels[i] == static_cast<std::int64_t>(best);
  }
  EXPECT_GT(right, 250);  // chance gives 50
}

TEST(Road, turns_both_ways_and_keeps_its_angles_in_range) {
  const auto set = draw("road", Split::train, 200);
  double low = 0, high = 0;
  for (const float angle : set->values) {
    EXPECT_LE(std::abs(angle), 1);
    low = std::min<double>(low, angle);
    high = std::max<double>(high, angle);
  }
  EXPECT_LT(low, -0.3);
  EXPECT_GT(high, 0.3);
}

}  // namespace
}  // namespace lockstep::data
