#include "lockstep/data/sample_set.h"

#include <fmt/core.h>

#include "lockstep/base/error.h"

namespace lockstep::data {

ImageStore::ImageStore(ImageShape shape, std::vector<std::uint8_t> pixels)
    : pixels_(std::move(pixels)),
      uniform_(true),
      uniform_shape_(shape),
      uniform_count_(pixels_.size() / shape.elements()) {}

void ImageStore::reserve(std::size_t count, ImageShape shape) {
  pixels_.reserve(count * shape.elements());
  shapes_.reserve(count);
  offsets_.reserve(count);
}

void ImageStore::add(const Image& image) {
  offsets_.push_back(pixels_.size());
  shapes_.push_back(image.shape);
  pixels_.insert(pixels_.end(), image.pixels.begin(), image.pixels.end());
}

ImageView ImageStore::operator[](std::size_t index) const {
  if (uniform_) return {pixels_.data() + index * uniform_shape_.elements(), uniform_shape_};
  return {pixels_.data() + offsets_[index], shapes_[index]};
}

std::size_t SampleSet::size() const {
  switch (task) {
    case record::Task::classification:
      return labels.size();
    case record::Task::steering:
      return values.size();
    case record::Task::restoration:
      return patches.size();
    case record::Task::any:
      break;
  }
  return images.count();
}

ImageView SampleSet::image_of(std::size_t sample) const {
  return images[task == record::Task::restoration ? patches[sample].image : sample];
}

void SampleSet::keep_first(std::size_t count) {
  if (count > size()) {
    throw base::DataError(fmt::format("{} samples were asked for, and {} has {}. Ask for at most {}.", count,
                                      origin, size(), size()));
  }
  if (!labels.empty()) labels.resize(count);
  if (!values.empty()) values.resize(count);
  if (!patches.empty()) patches.resize(count);
}

void add_patch_grid(SampleSet& set, int height, int width) {
  for (std::size_t i = 0; i < set.images.count(); ++i) {
    const ImageShape shape = set.images[i].shape;
    for (int top = 0; top + height <= shape.height; top += height) {
      for (int left = 0; left + width <= shape.width; left += width) {
        set.patches.push_back({static_cast<std::uint32_t>(i), top, left});
      }
    }
  }
}

}  // namespace lockstep::data
