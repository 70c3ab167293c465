#include "lockstep/data/transform.h"

#include <fmt/core.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/keyed_random.h"

namespace lockstep::data {
namespace {

using base::KeyedRandom;
using base::RandomStream;

// Offsets of a crop are drawn up to this part of the side: 4 of 32 pixels, as is usual for CIFAR-10.
constexpr int kCropPart = 8;

void check_shapes(const SampleSet& set, const ImageShape& input) {
  const ImageShape own = set.image_of(0).shape;
  if (input.channels != own.channels && own.channels != 1) {
    throw base::DataError(
        fmt::format("{} has {} channels, and the model takes {}. Choose another model or data set.",
                    set.origin, own.channels, input.channels));
  }
}

// One row of `width` pixels whose source begins `right` pixels before or after it; what lies outside is
// black.
template <class Pixel>
void write_row(const Pixel* row, int width, int right, float scale, float bias, float* out) {
  const int first = std::clamp(-right, 0, width);
  const int end = std::clamp(width - right, 0, width);
  std::fill(out, out + first, bias);
  for (int x = first; x < end; ++x) out[x] = static_cast<float>(row[x + right]) * scale + bias;
  std::fill(out + std::max(first, end), out + width, bias);
}

}  // namespace

Transform::Transform(const SampleSet& set, const TransformOptions& options) : options_(options) {
  check_shapes(set, options.input);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    scale_[channel] = 1 / (255 * options.deviation[channel]);
    bias_[channel] = -options.mean[channel] / options.deviation[channel];
  }
  const ImageShape own = set.image_of(0).shape;
  const bool same_size = own.height == options.input.height && own.width == options.input.width;
  if (set.task != record::Task::restoration && !same_size) {
    resampler_.emplace(own.height, own.width, options.input.height, options.input.width);
  }
}

Transform::Change Transform::draw_change(std::uint32_t sample, std::uint64_t epoch) const {
  Change change;
  if (!options_.crop && !options_.flip) return change;
  KeyedRandom random(RandomStream::augmentation, {options_.seed, epoch, sample});
  if (options_.crop) {
    const int most_down = std::max(1, options_.input.height / kCropPart);
    const int most_right = std::max(1, options_.input.width / kCropPart);
    change.down = static_cast<int>(random.below(static_cast<std::uint32_t>(2 * most_down + 1))) - most_down;
    change.right =
        static_cast<int>(random.below(static_cast<std::uint32_t>(2 * most_right + 1))) - most_right;
  }
  change.flip = options_.flip && random.coin();
  return change;
}

template <class Pixel>
void Transform::write_plane(const Pixel* plane, const Change& change, int channel, float* out) const {
  const int height = options_.input.height;
  const int width = options_.input.width;
  const float scale = scale_[static_cast<std::size_t>(channel)];
  const float bias = bias_[static_cast<std::size_t>(channel)];
  for (int y = 0; y < height; ++y, out += width) {
    const int from = y + change.down;
    if (from < 0 || from >= height) {
      std::fill(out, out + width, bias);
      continue;
    }
    write_row(plane + static_cast<std::ptrdiff_t>(from) * width, width, change.right, scale, bias, out);
    if (change.flip) std::reverse(out, out + width);
  }
}

void Transform::write_image(const ImageView& image, const Change& change, float* out,
                            Scratch& scratch) const {
  const std::size_t pixels = options_.input.pixels();
  const bool plain = change.down == 0 && change.right == 0 && !change.flip;
  for (int channel = 0; channel < options_.input.channels; ++channel, out += pixels) {
    const int source = std::min(channel, image.shape.channels - 1);  // grey feeds all three
    const auto index = static_cast<std::size_t>(channel);
    if (resampler_) {
      scratch.plane.resize(pixels);
      if (source == channel) resampler_->run(image.plane(source), scratch.plane.data(), scratch.rows);
      write_plane(scratch.plane.data(), change, channel, out);
    } else if (plain) {
      write_row(image.plane(source), static_cast<int>(pixels), 0, scale_[index], bias_[index], out);
    } else {
      write_plane(image.plane(source), change, channel, out);
    }
  }
}

PatchOrigin Transform::draw_patch(const SampleSet& set, std::uint32_t sample, std::uint64_t epoch,
                                  bool& flip) const {
  PatchOrigin origin = set.patches[sample];
  KeyedRandom random(RandomStream::augmentation, {options_.seed, epoch, sample});
  if (options_.jitter) {
    const ImageShape photo = set.images[origin.image].shape;
    origin.top =
        static_cast<int>(random.below(static_cast<std::uint32_t>(photo.height - options_.input.height + 1)));
    origin.left =
        static_cast<int>(random.below(static_cast<std::uint32_t>(photo.width - options_.input.width + 1)));
  }
  flip = options_.flip && random.coin();
  return origin;
}

void Transform::write_restoration(const SampleSet& set, std::uint32_t sample, std::uint64_t epoch,
                                  const SampleSlot& slot) const {
  bool flip = false;
  const PatchOrigin origin = draw_patch(set, sample, epoch, flip);
  const ImageView photo = set.images[origin.image];
  float* out = slot.target;
  for (int channel = 0; channel < options_.input.channels; ++channel) {
    const auto index = static_cast<std::size_t>(channel);
    const std::uint8_t* plane = photo.plane(std::min(channel, photo.shape.channels - 1));
    for (int y = 0; y < options_.input.height; ++y, out += options_.input.width) {
      const std::uint8_t* row =
          plane + static_cast<std::ptrdiff_t>(origin.top + y) * photo.shape.width + origin.left;
      write_row(row, options_.input.width, 0, scale_[index], bias_[index], out);
      if (flip) std::reverse(out, out + options_.input.width);
    }
  }
  KeyedRandom random(RandomStream::noise, {options_.seed, epoch, sample});
  const std::size_t elements = options_.input.elements();
  for (std::size_t i = 0; i < elements; i += 2) {
    float first, second;
    random.normal_pair(first, second);
    slot.input[i] = slot.target[i] + options_.noise_sigma * first;
    if (i + 1 < elements) slot.input[i + 1] = slot.target[i + 1] + options_.noise_sigma * second;
  }
}

void Transform::write(const SampleSet& set, std::uint32_t sample, std::uint64_t epoch, const SampleSlot& slot,
                      Scratch& scratch) const {
  if (set.task == record::Task::restoration) return write_restoration(set, sample, epoch, slot);
  const Change change = draw_change(sample, epoch);
  write_image(set.image_of(sample), change, slot.input, scratch);
  if (set.task == record::Task::classification) *slot.label = set.labels[sample];
  if (set.task == record::Task::steering)
    *slot.target = change.flip ? -set.values[sample] : set.values[sample];
}

}  // namespace lockstep::data
