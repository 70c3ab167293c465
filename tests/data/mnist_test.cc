// Tests of MNIST on small files made here.
#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

// A directory that looks like a small MNIST: `count` images, label i % 10, pixels of image i all i.
class SmallMnist : public ::testing::Test {
 protected:
  SmallMnist() {
    write("train", 20, 20);
    write("t10k", 5, 5);
  }

  void write(const std::string& prefix, std::uint32_t images, std::uint32_t labels, bool packed = false) {
    Bytes pixels, marks;
    for (std::uint32_t i = 0; i < images; ++i)
      pixels.insert(pixels.end(), 28 * 28, static_cast<std::uint8_t>(i));
    for (std::uint32_t i = 0; i < labels; ++i) marks.push_back(static_cast<std::uint8_t>(i % 10));
    put(prefix + "-images-idx3-ubyte", idx_bytes({images, 28, 28}, pixels), packed);
    put(prefix + "-labels-idx1-ubyte", idx_bytes({labels}, marks), packed);
  }
  void put(const std::string& name, const Bytes& bytes, bool packed = false) {
    write_bytes(directory / ("mnist/" + name + (packed ? ".gz" : "")), packed ? gzip(bytes) : bytes);
  }
  std::shared_ptr<const SampleSet> load(Split split = Split::train, std::optional<std::size_t> samples = {}) {
    return load_set({"mnist", split, directory.path(), {}, 1, samples});
  }
  std::string complaint() {
    return data_complaint([&] { load(); });
  }

  TemporaryDirectory directory;
};

TEST_F(SmallMnist, is_read_with_its_labels) {
  const auto set = load();
  ASSERT_EQ(set->size(), 20u);
  EXPECT_EQ(set->labels[13], 3);
  EXPECT_EQ(set->image_of(13).pixels[100], 13);
  EXPECT_EQ(set->classes, 10);
  EXPECT_EQ(set->image_of(0).shape, (ImageShape{1, 28, 28}));
}

TEST_F(SmallMnist, is_read_from_packed_files_too) {
  for (const char* part : {"images-idx3", "labels-idx1"})
    std::filesystem::remove(directory / ("mnist/t10k-" + std::string(part) + "-ubyte"));
  write("t10k", 5, 5, true);
  EXPECT_EQ(load(Split::validation)->size(), 5u);
}

TEST_F(SmallMnist, a_packed_file_that_is_wrong_inside_is_named_as_it_lies_there) {
  std::filesystem::remove(directory / "mnist/train-labels-idx1-ubyte");
  put("train-labels-idx1-ubyte", idx_bytes({20}, Bytes(20, 77)), true);
  EXPECT_THAT(complaint(), HasSubstr("train-labels-idx1-ubyte.gz: sample 0 has label 77"));
  put("train-labels-idx1-ubyte", {}, true);
  EXPECT_THAT(complaint(), HasSubstr("train-labels-idx1-ubyte.gz: it has 0 bytes"));
}

TEST_F(SmallMnist, keeps_the_first_samples_that_were_asked_for) {
  EXPECT_EQ(load(Split::train, 7)->size(), 7u);
  EXPECT_THAT(data_complaint([&] { load(Split::train, 21); }), HasSubstr("21 samples were asked for"));
}

TEST_F(SmallMnist, with_a_label_outside_the_classes_is_refused) {
  put("train-labels-idx1-ubyte", idx_bytes({20}, Bytes(20, 10)));
  EXPECT_THAT(complaint(), HasSubstr("sample 0 has label 10, and there are 10 classes (0 to 9)"));
}

TEST_F(SmallMnist, with_more_images_than_labels_is_refused) {
  put("train-labels-idx1-ubyte", idx_bytes({19}, Bytes(19, 1)));
  EXPECT_THAT(complaint(), HasSubstr("20 images"));
  EXPECT_THAT(complaint(), HasSubstr("19 labels"));
}

TEST_F(SmallMnist, with_images_of_another_size_is_refused) {
  put("train-images-idx3-ubyte", idx_bytes({20, 8, 8}, Bytes(20 * 64)));
  EXPECT_THAT(complaint(), HasSubstr("its images are 8x8, not 28x28"));
}

TEST_F(SmallMnist, with_swapped_files_is_refused) {
  std::filesystem::copy_file(directory / "mnist/train-labels-idx1-ubyte",
                             directory / "mnist/train-images-idx3-ubyte",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(complaint(), HasSubstr("images have 3, labels 1"));
}

TEST_F(SmallMnist, with_a_file_missing_is_refused_by_name) {
  std::filesystem::remove(directory / "mnist/train-labels-idx1-ubyte");
  EXPECT_THAT(complaint(), HasSubstr("train-labels-idx1-ubyte is missing"));
}

}  // namespace
}  // namespace lockstep::data
