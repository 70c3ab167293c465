// Tests of the sets that the user names by a directory: folder and images.
#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void put_image(const std::filesystem::path& file, int value, int side = 20) {
  const Image image = make_image({3, side, side + 4}, [value](int, int, int) { return value; });
  write_bytes(file, file.extension() == ".png" ? png_bytes(image) : jpeg_bytes(image));
}

class Folder : public ::testing::Test {
 protected:
  void put_class(const std::string& name, int images, int value) {
    for (int i = 0; i < images; ++i)
      put_image(directory / (name + "/" + std::to_string(i) + (i % 2 ? ".png" : ".jpg")), value);
  }
  std::shared_ptr<const SampleSet> load(Split split = Split::train) {
    return load_set({"folder:" + directory.path().string(), split, {}, {3, 16, 16}, 1, {}});
  }
  std::string complaint() {
    return data_complaint([&] { load(); });
  }
  TemporaryDirectory directory;
};

TEST_F(Folder, has_a_class_for_each_directory_and_keeps_every_fifth_image_for_validation) {
  put_class("dogs", 10, 200);
  put_class("cats", 5, 100);
  const auto train = load();
  EXPECT_THAT(train->class_names, ElementsAre("cats", "dogs"));
  EXPECT_EQ(train->size(), 12u);
  EXPECT_EQ(load(Split::validation)->size(), 3u);
  EXPECT_EQ(train->labels.front(), 0);
  EXPECT_NEAR(train->image_of(0).pixels[0], 100, 2);
  EXPECT_EQ(train->image_of(0).shape, (ImageShape{3, 16, 16}));
}

TEST_F(Folder, takes_train_and_val_where_both_exist) {
  put_class("train/a", 3, 10);
  put_class("train/b", 3, 20);
  put_class("val/a", 2, 10);
  put_class("val/b", 1, 20);
  EXPECT_EQ(load()->size(), 6u);
  EXPECT_EQ(load(Split::validation)->size(), 3u);
  put_class("val/c", 1, 20);
  EXPECT_THAT(complaint(), HasSubstr("has the class 'c'"));
}

TEST_F(Folder, without_classes_or_images_is_refused) {
  put_class("a", 3, 1);
  EXPECT_THAT(complaint(), HasSubstr("one for each class is needed, at least two"));
  std::filesystem::create_directories(directory / "b");
  EXPECT_THAT(complaint(), HasSubstr("has 0 images"));
}

TEST_F(Folder, with_a_damaged_image_is_refused_by_name) {
  put_class("a", 3, 1);
  put_class("b", 3, 1);
  write_text(directory / "b/2.jpg", "no image");
  EXPECT_THAT(complaint(), HasSubstr("b/2.jpg"));
}

TEST_F(Folder, that_does_not_exist_is_refused) {
  EXPECT_THAT(data_complaint([] {
                load_set({"folder:/nowhere/at/all", Split::train, {}, {}, 1, {}});
              }),
              HasSubstr("/nowhere/at/all is not a directory"));
}

class Photos : public Folder {
 protected:
  std::shared_ptr<const SampleSet> load_photos(Split split, int patch) {
    return load_set({"images:" + directory.path().string(), split, {}, {3, patch, patch}, 1, {}});
  }
};

TEST_F(Photos, are_cut_into_patches_and_every_sixth_is_for_validation) {
  for (int i = 0; i < 7; ++i) put_image(directory / (std::to_string(i) + ".png"), 10 * i, 40);
  const auto train = load_photos(Split::train, 16);
  const auto validation = load_photos(Split::validation, 16);
  EXPECT_EQ(train->images.count(), 6u);
  EXPECT_EQ(train->size(), 6u * 2 * 2);
  EXPECT_EQ(validation->size(), 4u);
  EXPECT_EQ(validation->image_of(0).pixels[0], 50);
}

TEST_F(Photos, that_are_too_few_or_too_small_are_refused) {
  for (int i = 0; i < 5; ++i) put_image(directory / (std::to_string(i) + ".png"), 1, 20);
  EXPECT_THAT(data_complaint([&] { load_photos(Split::train, 16); }),
              HasSubstr("holds 5 PNG or JPEG images"));
  put_image(directory / "6.png", 1, 20);
  EXPECT_THAT(data_complaint([&] { load_photos(Split::train, 64); }),
              HasSubstr("smaller than a patch of 64x64"));
}

}  // namespace
}  // namespace lockstep::data
