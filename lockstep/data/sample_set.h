// A data set in memory: every image decoded once, to bytes; what a sample's target is depends on the task.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/data/image.h"
#include "lockstep/record/catalogue_entry.h"

namespace lockstep::data {

// Images one after another in one block of memory.
class ImageStore {
 public:
  ImageStore() = default;
  // `count` images of one shape that already lie one after another.
  ImageStore(ImageShape shape, std::vector<std::uint8_t> pixels);

  void reserve(std::size_t count, ImageShape shape);
  void add(const Image& image);

  std::size_t count() const { return uniform_ ? uniform_count_ : shapes_.size(); }
  ImageView operator[](std::size_t index) const;
  std::size_t bytes() const { return pixels_.size(); }

 private:
  std::vector<std::uint8_t> pixels_;
  bool uniform_ = false;
  ImageShape uniform_shape_;
  std::size_t uniform_count_ = 0;
  std::vector<ImageShape> shapes_;
  std::vector<std::size_t> offsets_;
};

// Where a patch of a photograph begins when nothing is random.
struct PatchOrigin {
  std::uint32_t image = 0;
  int top = 0;
  int left = 0;
};

struct SampleSet {
  record::Task task = record::Task::classification;
  ImageStore images;
  std::vector<std::int64_t> labels;  // classification: one for each image, in [0, classes)
  std::vector<float> values;         // steering: one for each image
  std::vector<PatchOrigin> patches;  // restoration: a sample is a patch, not an image
  int classes = 0;
  std::vector<std::string> class_names;  // empty where the format has none
  std::string origin;                    // where it came from, for messages

  std::size_t size() const;
  // The image that the sample is, or is cut from.
  ImageView image_of(std::size_t sample) const;
  // Keeps the first `count` samples. Throws DataError when there are fewer.
  void keep_first(std::size_t count);
};

// A grid of patches with the given sides that covers what it can of every image of the set.
void add_patch_grid(SampleSet& set, int height, int width);

}  // namespace lockstep::data
