// Tests of the driving set on a small drive made here.
#include <set>

#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

// A hundred frames; the angle of frame i is i / 100, and its colour is i.
class SmallDrive : public ::testing::Test {
 protected:
  SmallDrive() {
    for (int i = 0; i < 100; ++i) {
      const Image frame = make_image({3, 8, 16}, [i](int, int, int) { return i; });
      write_bytes(directory / ("driving/IMG/c" + std::to_string(i) + ".jpg"), jpeg_bytes(frame));
    }
    write_log("center,left,right,steering,throttle,brake,speed\n", "IMG/");
  }
  void write_log(std::string text, const std::string& folder) {
    for (int i = 0; i < 100; ++i)
      text += folder + "c" + std::to_string(i) + ".jpg, l, r, " + std::to_string(i / 100.0) + ", 0, 0, 22\n";
    write_text(log(), text);
  }
  std::filesystem::path log() { return directory / "driving/driving_log.csv"; }
  void append(const std::string& line) {
    const Bytes before = read_file(log());
    write_text(log(), std::string(before.begin(), before.end()) + line + "\n");
  }
  std::shared_ptr<const SampleSet> load(Split split = Split::train) {
    return load_set({"driving", split, directory.path(), {3, 8, 16}, 1, {}});
  }
  std::string complaint() {
    return data_complaint([&] { load(); });
  }
  TemporaryDirectory directory;
};

TEST_F(SmallDrive, is_split_by_contiguous_blocks) {
  const auto train = load(Split::train);
  const auto validation = load(Split::validation);
  EXPECT_EQ(train->size(), 80u);
  ASSERT_EQ(validation->size(), 20u);
  std::set<float> all(train->values.begin(), train->values.end());
  all.insert(validation->values.begin(), validation->values.end());
  EXPECT_EQ(all.size(), 100u);
  // Blocks of four: 8..11, 28..31, ...
  EXPECT_NEAR(validation->values[0], 0.08, 1e-6);
  EXPECT_NEAR(validation->values[3], 0.11, 1e-6);
  EXPECT_NEAR(validation->values[4], 0.28, 1e-6);
}

TEST_F(SmallDrive, keeps_each_frame_with_its_angle) {
  const auto train = load();
  for (std::size_t i = 0; i < train->size(); ++i) {
    EXPECT_NEAR(train->image_of(i).pixels[20], train->values[i] * 100, 3);
  }
}

TEST_F(SmallDrive, is_resized_to_what_the_model_takes) {
  const auto set = load_set({"driving", Split::train, directory.path(), {3, 66, 200}, 1, {}});
  EXPECT_EQ(set->image_of(0).shape, (ImageShape{3, 66, 200}));
}

TEST_F(SmallDrive, needs_no_header_and_takes_paths_of_another_machine) {
  write_log("", "C:\\Users\\me\\sim\\IMG\\");
  EXPECT_EQ(load()->size(), 80u);
}

TEST_F(SmallDrive, with_a_bad_line_is_refused_by_its_number) {
  append("IMG/c1.jpg, l, r");
  EXPECT_THAT(complaint(), HasSubstr("driving_log.csv:102: 3 fields"));
}

TEST_F(SmallDrive, with_a_bad_angle_is_refused) {
  append("IMG/c1.jpg, l, r, left, 0, 0, 0");
  EXPECT_THAT(complaint(), HasSubstr(":102: the steering angle 'left' is not a number"));
  write_log("", "IMG/");
  append("IMG/c1.jpg, l, r, 25.0, 0, 0, 0");
  EXPECT_THAT(complaint(), HasSubstr("25.0 is outside [-1, 1]"));
}

TEST_F(SmallDrive, with_a_frame_missing_or_damaged_is_refused_by_name) {
  write_text(directory / "driving/IMG/c5.jpg", "nothing");
  EXPECT_THAT(complaint(), HasSubstr("c5.jpg: this is neither"));
  std::filesystem::remove(directory / "driving/IMG/c5.jpg");
  EXPECT_THAT(complaint(), HasSubstr("c5.jpg is missing"));
}

TEST_F(SmallDrive, with_too_few_frames_is_refused) {
  write_text(log(), "IMG/c1.jpg, l, r, 0.5, 0, 0, 0\n");
  EXPECT_THAT(complaint(), HasSubstr("has 1 frames: too few"));
}

}  // namespace
}  // namespace lockstep::data
