#include "lockstep/data/image.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/resampler.h"

namespace lockstep::data {
namespace {

bool begins_with(std::span<const std::uint8_t> bytes, std::initializer_list<std::uint8_t> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

}  // namespace

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (begins_with(bytes, {0xff, 0xd8, 0xff})) return decode_jpeg(bytes, name);
  if (begins_with(bytes, {0x89, 'P', 'N', 'G'})) return decode_png(bytes, name);
  throw base::DataError(fmt::format(
      "{}: this is neither a PNG nor a JPEG image. Convert it, or remove it from the directory.", name));
}

Image read_image(const std::filesystem::path& file) {
  return decode_image(read_file(file), file.string());
}

Image planes_of(std::span<const std::uint8_t> interleaved, int height, int width) {
  Image image{{3, height, width}, std::vector<std::uint8_t>(interleaved.size())};
  const std::size_t pixels = image.shape.pixels();
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      image.pixels[channel * pixels + i] = interleaved[3 * i + channel];
    }
  }
  return image;
}

Image resized(const Image& image, int height, int width) {
  if (image.shape.height == height && image.shape.width == width) return image;
  const Resampler resampler(image.shape.height, image.shape.width, height, width);
  Image result{{image.shape.channels, height, width}, {}};
  result.pixels.resize(result.shape.elements());
  std::vector<float> plane(result.shape.pixels());
  std::vector<float> scratch;
  for (int channel = 0; channel < image.shape.channels; ++channel) {
    resampler.run(image.view().plane(channel), plane.data(), scratch);
    std::transform(
        plane.begin(), plane.end(),
        result.pixels.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(channel) * plane.size()),
        [](float value) { return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 255.0f))); });
  }
  return result;
}

}  // namespace lockstep::data
