// The published files themselves, where LOCKSTEP_TEST_DATA names a directory that has them.
#include <cstdlib>
#include <numeric>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

class RealData : public ::testing::Test {
 protected:
  void need(const std::string& file) {
    const char* given = std::getenv("LOCKSTEP_TEST_DATA");
    if (given == nullptr)
      GTEST_SKIP() << "LOCKSTEP_TEST_DATA does not name a directory with the published files";
    root = given;
    if (!exists_maybe_gzip(root / file)) GTEST_SKIP() << (root / file) << " does not exist";
  }
  std::shared_ptr<const SampleSet> load(const std::string& data, Split split, ImageShape input = {}) {
    return load_set({data, split, root, input, 1, {}});
  }
  std::filesystem::path root;
};

std::vector<int> label_counts(const SampleSet& set) {
  std::vector<int> counts(static_cast<std::size_t>(set.classes));
  for (const std::int64_t label : set.labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

double mean_intensity(const SampleSet& set, int channel) {
  double sum = 0;
  const ImageShape shape = set.image_of(0).shape;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint8_t* plane = set.image_of(i).plane(channel);
    sum += std::accumulate(plane, plane + shape.pixels(), 0.0);
  }
  return sum / 255 / static_cast<double>(set.size() * shape.pixels());
}

TEST_F(RealData, mnist_is_whole_and_has_its_published_mean) {
  need("mnist/train-images-idx3-ubyte");
  if (IsSkipped()) return;
  const auto train = load("mnist", Split::train);
  EXPECT_EQ(train->size(), 60000u);
  EXPECT_EQ(label_counts(*train)[0], 5923);
  EXPECT_NEAR(mean_intensity(*train, 0), 0.1307, 5e-5);
  EXPECT_EQ(load("mnist", Split::validation)->size(), 10000u);
}

TEST_F(RealData, fashion_mnist_is_whole_and_has_its_published_mean) {
  need("fashion-mnist/train-images-idx3-ubyte");
  if (IsSkipped()) return;
  const auto train = load("fashion-mnist", Split::train);
  EXPECT_EQ(label_counts(*train), std::vector<int>(10, 6000));
  EXPECT_NEAR(mean_intensity(*train, 0), 0.2860, 5e-5);
}

TEST_F(RealData, cifar10_is_whole_and_has_its_published_means) {
  need("cifar-10-batches-bin/data_batch_1.bin");
  if (IsSkipped()) return;
  const auto train = load("cifar10", Split::train);
  EXPECT_EQ(label_counts(*train), std::vector<int>(10, 5000));
  EXPECT_NEAR(mean_intensity(*train, 0), 0.4914, 5e-5);
  EXPECT_NEAR(mean_intensity(*train, 1), 0.4822, 5e-5);
  EXPECT_NEAR(mean_intensity(*train, 2), 0.4465, 5e-5);
}

TEST_F(RealData, driving_frames_are_read) {
  need("driving/driving_log.csv");
  if (IsSkipped()) return;
  const auto train = load("driving", Split::train, {3, 66, 200});
  const auto validation = load("driving", Split::validation, {3, 66, 200});
  EXPECT_GT(train->size(), 3 * validation->size());
  EXPECT_NEAR(mean_intensity(*train, 0), 0.5, 0.3);
}

TEST_F(RealData, kodak_photographs_are_cut_into_patches) {
  need("kodak/kodim01.png");
  if (IsSkipped()) return;
  const auto train = load("images:" + (root / "kodak").string(), Split::train, {3, 64, 64});
  EXPECT_EQ(train->images.count(), 20u);
  EXPECT_EQ(train->size(), 20u * 96);
}

}  // namespace
}  // namespace lockstep::data
