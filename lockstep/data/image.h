// Decoded images: unsigned bytes, one plane after another, [channels, height, width].
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lockstep/record/catalogue_entry.h"

namespace lockstep::data {

using record::ImageShape;

inline constexpr std::size_t kMostPixels = std::size_t{1} << 27;  // a file with more is refused

struct ImageView {
  const std::uint8_t* pixels = nullptr;
  ImageShape shape;
  const std::uint8_t* plane(int channel) const {
    return pixels + static_cast<std::size_t>(channel) * shape.pixels();
  }
};

struct Image {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
  ImageView view() const { return {pixels.data(), shape}; }
};

// Three planes from a PNG or JPEG file; which it is, is read from its first bytes. Throws DataError that
// names the file: not an image, truncated, corrupted, too large.
Image read_image(const std::filesystem::path& file);
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name);
Image decode_png(std::span<const std::uint8_t> bytes, const std::string& name);

// Red, green, blue, red, ... to three planes.
Image planes_of(std::span<const std::uint8_t> interleaved, int height, int width);

// Bilinear, rounded to whole intensities; the same image when the size is the same.
Image resized(const Image& image, int height, int width);

}  // namespace lockstep::data
